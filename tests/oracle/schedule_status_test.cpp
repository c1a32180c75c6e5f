// What became of an interleaving, and the sentence that says why.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

using result::BoardState;
using result::ScheduleStatus;
using result::TrialRecord;
using testing::HasSubstr;
using testing::StartsWith;

const schedule::Interleaving k_two = in_order({"drafter0 fx.trace.enter", "drafter1 compiled_call.enter#2"});

void expect(const TrialRecord& trial, const schedule::Interleaving& asked, ScheduleStatus status,
            const std::string& reason) {
  const ScheduleFinding finding = schedule_status(trial, asked);
  EXPECT_EQ(finding.status, status) << result::to_string(finding.status);
  EXPECT_EQ(finding.reason, reason);
}

TEST(ScheduleStatus, IsRealisedWhereTheLogShowsTheOrder) {
  TrialRecord trial = trial_of(k_two, BoardState::complete);
  trial.events = {pass("drafter0 fx.trace.enter#1", 0), pass("drafter1 compiled_call.enter#2", 1)};
  expect(trial, k_two, ScheduleStatus::realised, "");
}

TEST(ScheduleStatus, IsDivergedWhereTheLogContradictsTheBoard) {
  TrialRecord trial = trial_of(k_two, BoardState::complete);
  trial.events = {pass("drafter1 compiled_call.enter#2", 1), pass("drafter0 fx.trace.enter#1", 0)};
  expect(trial, k_two, ScheduleStatus::diverged, "drafter0 fx.trace.enter came after drafter1 compiled_call.enter#2");
}

TEST(ScheduleStatus, IsUnreachableWhereAnActorNeverCameToItsEvent) {
  TrialRecord trial = trial_of(k_two, BoardState::unreachable);
  trial.stuck_step = 0;
  expect(trial, k_two, ScheduleStatus::unreachable, "drafter0 never came to fx.trace.enter");
}

TEST(ScheduleStatus, SaysHowOftenTheActorCameThere) {
  TrialRecord trial = trial_of(k_two, BoardState::unreachable);
  trial.stuck_step = 1;
  trial.steps[1].times_hit = 1;
  EXPECT_THAT(schedule_status(trial, k_two).reason, HasSubstr("coming to compiled_call.enter 1 time"));
  trial.steps[1].times_hit = 3;
  EXPECT_THAT(schedule_status(trial, k_two).reason, HasSubstr("3 times"));
}

TEST(ScheduleStatus, ExplainsAnUnreachableEventByTheAotAutogradCache) {
  TrialRecord trial = trial_of(k_two, BoardState::unreachable);
  trial.stuck_step = 0;
  trial.facts = {counters_fact("aot_autograd", "autograd_cache_hit", 3),
                 counters_fact("aot_autograd", "autograd_cache_miss", 1),
                 counters_fact("inductor", "fxgraph_cache_hit", 9)};
  expect(trial, k_two, ScheduleStatus::unreachable,
         "drafter0 never came to fx.trace.enter: AOTAutograd cache hit 3 of 4");
}

TEST(ScheduleStatus, ExplainsAnUnreachableEventByTheFxGraphCacheIfThereIsNoOther) {
  TrialRecord trial = trial_of(k_two, BoardState::unreachable);
  trial.stuck_step = 0;
  trial.facts = {counters_fact("inductor", "fxgraph_cache_hit", 2), counters_fact("inductor", "fxgraph_cache_miss", 0)};
  expect(trial, k_two, ScheduleStatus::unreachable, "drafter0 never came to fx.trace.enter: FX-graph cache hit 2 of 2");
}

TEST(ScheduleStatus, SuggestsTheActorThatWasMeantWhereNoneOfThatNameAppeared) {
  const auto asked = in_order({"draftre0 p"});
  TrialRecord trial = trial_of(asked, BoardState::open); // the board waits for an actor that never came
  trial.actors = {{"draftre0", false, false, 0}, {"drafter0", true, true, 0}, {"target", true, true, 0}};
  expect(trial, asked, ScheduleStatus::unreachable,
         "draftre0 p: no thread named 'draftre0' appeared; did you mean 'drafter0'?; the pipeline's threads were "
         "drafter0, "
         "target");
}

TEST(ScheduleStatus, SaysThatThePipelineHadNoThreadsAtAll) {
  const auto asked = in_order({"drafter0 p"});
  TrialRecord trial = trial_of(asked, BoardState::stalled);
  trial.actors = {{"drafter0", false, false, 0}};
  trial.stalled_because = "no thread named …";
  expect(trial, asked, ScheduleStatus::unreachable,
         "drafter0 p: no thread named 'drafter0' appeared; the pipeline's threads were none");
}

TEST(ScheduleStatus, SaysThatThePointDoesNotExistInThisToolkit) {
  TrialRecord trial = trial_of(k_two, BoardState::unreachable);
  trial.stuck_step = 0;
  trial.facts = {{{"fact", "point_missing"}, {"point", "compiled_call"}, {"message", "not this one"}},
                 {{"fact", "point_missing"}, {"point", "fx.trace"}, {"message", "torch.fx has no attribute 'Tracer'"}}};
  expect(trial, k_two, ScheduleStatus::unreachable,
         "drafter0 fx.trace.enter: the point does not exist here: torch.fx has no attribute 'Tracer'");
}

TEST(ScheduleStatus, TakesTheFirstOpenStepWhereTheBoardNamesNone) {
  TrialRecord trial = trial_of(k_two, BoardState::open);
  trial.steps[0].done = true;
  expect(trial, k_two, ScheduleStatus::unreachable, "drafter1 never came to compiled_call.enter");
}

TEST(ScheduleStatus, IsImpossibleWithTheCycleInWordsAndItsLockFirst) {
  TrialRecord trial = trial_of(k_two, BoardState::impossible);
  trial.cycle = {
      {"drafter0", "drafter1", result::WaitKind::for_event, "fx.trace.exit", "drafter1 compiled_call.exit", ""},
      {"drafter1", "drafter0", result::WaitKind::for_lock, "", "", "compile_lock"}};
  expect(trial, k_two, ScheduleStatus::impossible,
         "drafter1 waits for compile_lock, held by drafter0; drafter0 is parked at fx.trace.exit, waiting for drafter1 "
         "compiled_call.exit");
}

TEST(ScheduleStatus, IsImpossibleAlsoInASerializedRegion) {
  const auto asked = serialized({"compiled_call"});
  TrialRecord trial = trial_of(asked, BoardState::impossible);
  trial.cycle = {{"b", "a", result::WaitKind::for_region, "compiled_call.enter", "", ""},
                 {"a", "b", result::WaitKind::for_lock, "", "", "l"}};
  expect(trial, asked, ScheduleStatus::impossible,
         "a waits for l, held by b; b is parked at compiled_call.enter until a has left");
}

TEST(ScheduleStatus, IsImpossibleWhereNothingMovedAlthoughTheActorIsThere) {
  TrialRecord trial = trial_of(k_two, BoardState::stalled);
  trial.stalled_because = "drafter0 is asleep in futex()";
  expect(trial, k_two, ScheduleStatus::impossible, "drafter0 is asleep in futex()");
  const auto regions = serialized({"r"});
  TrialRecord other = trial_of(regions, BoardState::stalled);
  other.stalled_because = "nothing moves";
  expect(other, regions, ScheduleStatus::impossible, "nothing moves");
}

TEST(ScheduleStatus, OfASerializedRegionIsRealisedOnlyIfSomebodyWasInIt) {
  const auto asked = serialized({"compiled_call", "fx.trace"});
  TrialRecord trial = trial_of(asked, BoardState::open);
  trial.events = {pass("a compiled_call_of_another_name.enter#1")};
  expect(trial, asked, ScheduleStatus::unproved, "no actor came to compiled_call or fx.trace");
  trial.events.push_back(pass("a fx.trace.before#1"));
  expect(trial, asked, ScheduleStatus::realised, "");
}

TEST(ScheduleStatus, IsFreeWhereNothingWasAsked) {
  schedule::Interleaving asked;
  asked.kind = schedule::InterleavingKind::free;
  expect(free_trial(), asked, ScheduleStatus::free, "");
}

TEST(ScheduleStatus, IsUnprovedWithoutAnAgentWhateverWasAsked) {
  for (const auto kind : {schedule::InterleavingKind::free, schedule::InterleavingKind::ordered}) {
    schedule::Interleaving asked = k_two;
    asked.kind = kind;
    TrialRecord trial = trial_of(k_two, BoardState::open);
    trial.attached = 0;
    const ScheduleFinding finding = schedule_status(trial, asked);
    EXPECT_EQ(finding.status, ScheduleStatus::unproved);
    EXPECT_THAT(finding.reason, StartsWith("no process of the pipeline loaded racelab's agent"));
  }
}

TEST(ScheduleStatus, IsUnprovedWhereThePipelineDidNotStart) {
  TrialRecord trial = trial_of(k_two, BoardState::open);
  trial.end.kind = result::EndKind::not_started;
  trial.end.message = "x cannot be started";
  expect(trial, k_two, ScheduleStatus::unproved, "the pipeline did not start: x cannot be started");
}

} // namespace
} // namespace racelab::oracle::test

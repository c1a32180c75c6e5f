// Faults from an agent's facts, from a process's end, and from what a scenario expects of tokens/s.
#include "support.h"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

using result::EndKind;
using result::EventKind;
using result::Json;
using result::TrialRecord;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> kinds_of(const std::vector<result::Fault>& found) {
  std::vector<std::string> names;
  for (const auto& fault : found)
    names.push_back(fault.kind);
  return names;
}

std::vector<result::Fault> faults_of(const Json& fact) {
  TrialRecord trial = free_trial();
  trial.facts = {fact};
  return faults(trial);
}

TEST(NestedTracing, ThatRaisedIsAFaultWithItsMessageAndStack) {
  const auto found = faults_of({{"fact", "nested_tracing"},
                                {"form", "raised"},
                                {"actor", "drafter1"},
                                {"event", 7},
                                {"type", "RuntimeError"},
                                {"message", "Detected that you are using FX"},
                                {"traceback", "train.py:12"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("nested_tracing"));
  EXPECT_EQ(found[0].actor, "drafter1");
  EXPECT_EQ(found[0].event, 7);
  EXPECT_EQ(found[0].message, "RuntimeError: Detected that you are using FX");
  EXPECT_EQ(found[0].stack, "train.py:12");
}

TEST(NestedTracing, ThatWasInlinedIsAlsoASilentEager) {
  const auto found =
      faults_of({{"fact", "nested_tracing"}, {"form", "inline"}, {"actor", "a"}, {"function", "attend"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("nested_tracing", "silent_eager"));
  EXPECT_THAT(found[0].message, HasSubstr("attend met the tracing flag of another thread and was inlined"));
  EXPECT_THAT(found[1].message, HasSubstr("attend ran uncompiled"));
}

TEST(Facts, BecomeFaultsOfTheirKind) {
  auto found =
      faults_of({{"fact", "compiled_call_raised"}, {"type", "ValueError"}, {"message", "m"}, {"traceback", "t"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("compile_error"));
  EXPECT_EQ(found[0].message, "ValueError: m");
  EXPECT_EQ(found[0].stack, "t");

  found = faults_of({{"fact", "thread_died"}, {"actor", "a"}, {"type", "KeyError"}, {"message", "'x'"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("actor_died"));
  EXPECT_EQ(found[0].message, "KeyError: 'x'");

  found = faults_of({{"fact", "stuck_flag"}, {"actor", "a"}, {"where", "compiled_call.exit"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("stuck_flag"));
  EXPECT_THAT(found[0].message, HasSubstr("compiled_call.exit"));

  found = faults_of({{"fact", "silent_eager"}, {"cause", "recompile_limit"}, {"message", "8 times"}});
  ASSERT_THAT(kinds_of(found), ElementsAre("silent_eager"));
  EXPECT_EQ(found[0].message, "recompile_limit: 8 times");
}

TEST(Facts, OfOtherKindsAreNoFaults) {
  EXPECT_TRUE(faults_of({{"fact", "counters"}, {"counters", Json::object()}}).empty());
  EXPECT_TRUE(faults_of({{"fact", "point_missing"}, {"point", "p"}}).empty());
  EXPECT_TRUE(faults_of({{"something", "else"}}).empty());
}

TEST(Facts, WithFieldsOfAnotherTypeAreReadAsFarAsTheyGo) {
  const auto found = faults_of({{"fact", "thread_died"}, {"actor", nullptr}, {"event", "x"}, {"type", 1}});
  ASSERT_THAT(kinds_of(found), ElementsAre("actor_died"));
  EXPECT_EQ(found[0].actor, "");
  EXPECT_EQ(found[0].event, -1);
}

TEST(SameFault, OfOneActorIsReportedOnce) {
  TrialRecord trial = free_trial();
  const std::string long_text(80, 'x');
  const auto died = [&](const char* actor, const std::string& message) {
    trial.facts.push_back({{"fact", "silent_eager"}, {"actor", actor}, {"cause", ""}, {"message", message}});
  };
  died("a", long_text + "1");
  died("a", long_text + "2"); // differs only far behind
  died("b", long_text + "1");
  died("a", "something else");
  EXPECT_EQ(faults(trial).size(), 3U);
}

TEST(Fault, WithoutAnEventIsPlacedByItsTime) {
  TrialRecord trial = free_trial();
  trial.events = {pass("a p#1", -1, 10), pass("a p#2", -1, 20), pass("a p#3", -1, 30)};
  for (const auto& [time, index] : {std::pair{5, -1}, {10, 0}, {29, 1}, {100, 2}}) {
    trial.facts = {{{"fact", "thread_died"}, {"actor", "a"}, {"time", time}}};
    EXPECT_EQ(faults(trial)[0].event, index) << time;
  }
}

TEST(Fault, SaysWhatTheOthersDidThen) {
  TrialRecord trial = free_trial();
  trial.actors = {{"a", true, false, 0},
                  {"b", true, false, 0},
                  {"c", true, true, 0},
                  {"d", true, false, 0},
                  {"ghost", false, false, 0}};
  trial.events = {pass("a p#1"), event(EventKind::parked, "b", "q"), event(EventKind::actor_end, "c"), pass("d r#1"),
                  pass("b q#1")};
  trial.facts = {{{"fact", "thread_died"}, {"actor", "a"}, {"event", 3}}};
  EXPECT_EQ(faults(trial)[0].others, "b parked at q; c ended; d after r");
  trial.facts = {{{"fact", "thread_died"}, {"actor", "a"}, {"event", 4}}};
  EXPECT_EQ(faults(trial)[0].others, "b after q; c ended; d after r");
}

TEST(End, ByASignalIsACrashWithTheStacks) {
  TrialRecord trial = free_trial();
  trial.events = {pass("a p#1"), pass("a p#2")};
  trial.end.kind = EndKind::signalled;
  trial.end.signal = SIGSEGV;
  trial.stacks = "Thread 1";
  trial.events.push_back(event(EventKind::actor_end, "a")); // because the process ended
  const auto found = faults(trial);
  ASSERT_THAT(kinds_of(found), ElementsAre("crash"));
  EXPECT_EQ(found[0].message, "signal 11 (Segmentation fault)");
  EXPECT_EQ(found[0].stack, "Thread 1");
  EXPECT_EQ(found[0].event, 1);
}

TEST(End, ByDeadlockNamesTheLocks) {
  TrialRecord trial = free_trial();
  trial.end.kind = EndKind::deadlock;
  trial.end.message = "known locks wait for each other in a cycle";
  trial.cycle = {{"a", "b", result::WaitKind::for_lock, "", "", "l"},
                 {"b", "a", result::WaitKind::for_lock, "", "", "m"}};
  const auto found = faults(trial);
  ASSERT_THAT(kinds_of(found), ElementsAre("deadlock"));
  EXPECT_EQ(found[0].message,
            "known locks wait for each other in a cycle; a waits for l, held by b; b waits for m, held by a");
}

TEST(End, ByHangOrTimeLimitIsAFaultOfThatName) {
  for (const auto& [kind, name] : {std::pair{EndKind::hang, "hang"}, {EndKind::time_limit, "time_limit"}}) {
    TrialRecord trial = free_trial();
    trial.end.kind = kind;
    trial.end.message = "why";
    trial.stacks = "Thread 1";
    const auto found = faults(trial);
    ASSERT_THAT(kinds_of(found), ElementsAre(name));
    EXPECT_EQ(found[0].message, "why");
    EXPECT_EQ(found[0].stack, "Thread 1");
  }
}

TEST(End, WithAStatusIsAFaultUnlessAnExceptionExplainsIt) {
  TrialRecord trial = free_trial();
  EXPECT_TRUE(faults(trial).empty());
  trial.end.exit_code = 3;
  trial.stderr_tail = "Traceback";
  const auto found = faults(trial);
  ASSERT_THAT(kinds_of(found), ElementsAre("exit_status"));
  EXPECT_EQ(found[0].message, "the pipeline ended with status 3");
  EXPECT_EQ(found[0].stack, "Traceback");
  trial.facts = {{{"fact", "thread_died"}, {"actor", "a"}}};
  EXPECT_THAT(kinds_of(faults(trial)), ElementsAre("actor_died"));
  trial.facts = {{{"fact", "compiled_call_raised"}, {"actor", "a"}}};
  EXPECT_THAT(kinds_of(faults(trial)), ElementsAre("compile_error"));
  trial.facts = {{{"fact", "nested_tracing"}, {"form", "raised"}, {"actor", "a"}}};
  EXPECT_THAT(kinds_of(faults(trial)), ElementsAre("nested_tracing"));
}

TEST(End, WithAStatusIsAFaultBesideWhatRaisesNothing) {
  TrialRecord trial = free_trial();
  trial.end.exit_code = 3;
  trial.facts = {{{"fact", "nested_tracing"}, {"form", "inline"}, {"actor", "a"}},
                 {{"fact", "stuck_flag"}, {"actor", "a"}}};
  EXPECT_THAT(kinds_of(faults(trial)), ElementsAre("nested_tracing", "silent_eager", "stuck_flag", "exit_status"));
}

TEST(End, ByTheUserOrBeforeTheStartIsNoFault) {
  for (const EndKind kind : {EndKind::interrupted, EndKind::not_started}) {
    TrialRecord trial = free_trial();
    trial.end.kind = kind;
    EXPECT_TRUE(faults(trial).empty());
  }
}

TEST(EveryFault, IsOfAKindThatScenariosCanName) {
  std::vector<std::string> known;
  for (const FaultKind& kind : fault_kinds()) {
    known.push_back(kind.name);
    EXPECT_FALSE(kind.about.empty());
  }
  EXPECT_THAT(known, ElementsAre("nested_tracing", "stuck_flag", "silent_eager", "actor_died", "compile_error", "crash",
                                 "deadlock", "hang", "time_limit", "exit_status", "wrong_result", "slow"));
}

TEST(OutputFault, IsTheFirstLineThatMatches) {
  const std::vector<scenario::OutputFault> kinds{{.name = "nan", .pattern = "loss[ =]+nan", .place = {}},
                                                 {.name = "oom", .pattern = "out of memory", .place = {}}};
  const auto found = output_faults("step 1\nloss = nan at 2\nloss = nan at 3\n", kinds);
  ASSERT_THAT(kinds_of(found), ElementsAre("nan"));
  EXPECT_EQ(found[0].message, "the output says: loss = nan at 2");
  EXPECT_TRUE(output_faults("", kinds).empty());
  EXPECT_THAT(kinds_of(output_faults("out of memory\nloss=nan", kinds)), ElementsAre("nan", "oom"));
}

TEST(OutputFault, IsLookedForInTheBeginningOfLongLinesOnly) {
  const std::vector<scenario::OutputFault> kinds{{.name = "x", .pattern = "needle", .place = {}}};
  EXPECT_TRUE(output_faults(std::string(2000, 'a') + "needle", kinds).empty());
  const auto found = output_faults("needle" + std::string(5'000'000, 'a'), kinds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].message.size(), 2100U);
}

TEST(SlowFault, IsThroughputBelowWhatIsExpected) {
  result::TrialResult trial;
  trial.total_tokens_per_s = 100;
  trial.throughput = {{"a", 0, 60, 0, 0}, {"b", 0, 40, 0, 0}};
  EXPECT_TRUE(slow_faults(trial, {{"total", 100}, {"a", 60}, {"b", 39}}).empty());
  const auto found = slow_faults(trial, {{"total", 100.5}, {"a", 60.1}, {"b", 40}, {"nobody", 1}});
  ASSERT_THAT(kinds_of(found), ElementsAre("slow", "slow", "slow"));
  EXPECT_EQ(found[0].actor, "");
  EXPECT_EQ(found[0].message, "total made 100.0 tokens/s, at least 100.5 were expected");
  EXPECT_EQ(found[1].actor, "a");
  EXPECT_EQ(found[2].message, "nobody made 0.0 tokens/s, at least 1.0 were expected");
}

} // namespace
} // namespace racelab::oracle::test

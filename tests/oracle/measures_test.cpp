// tokens/s, counters and who traced.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

using result::TrialRecord;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// Steps of one actor: it enters its first at 1 s and ends steps at 3, 4 and 6 s with 10, 20 and 40 tokens.
std::vector<result::Event> steps_of(const std::string& actor, std::int64_t shift_s = 0) {
  const auto at = [&](std::int64_t s) { return (s + shift_s) * k_second; };
  return {pass(actor + " tokens.enter#1", -1, at(1)), tokens(actor, 10, at(3)),
          pass(actor + " tokens.enter#2", -1, at(3)), tokens(actor, 20, at(4)), tokens(actor, 40, at(6))};
}

TEST(Throughput, TellsTheFirstStepFromTheSteadyState) {
  TrialRecord trial = free_trial();
  trial.events = steps_of("a");
  trial.actors = {{"a", true, true, k_second / 4}};
  const auto all = throughput(trial);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].actor, "a");
  EXPECT_EQ(all[0].tokens, 70);
  EXPECT_DOUBLE_EQ(all[0].first_step_s, 2);
  EXPECT_DOUBLE_EQ(all[0].steady_tokens_per_s, 60.0 / 3);
  EXPECT_DOUBLE_EQ(all[0].waited_s, 0.25);
}

TEST(Throughput, CountsTheTokensOfTheOutput) {
  TrialRecord trial = free_trial();
  trial.token_lines = {
      {1 * k_second, "a", 10}, {2 * k_second, "b", 5}, {3 * k_second, "a", 30}, {4 * k_second, "b", 8}};
  const auto all = throughput(trial);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].tokens, 40);
  EXPECT_DOUBLE_EQ(all[0].steady_tokens_per_s, 30.0 / 2);
  EXPECT_DOUBLE_EQ(all[1].steady_tokens_per_s, 8.0 / 2);
  EXPECT_DOUBLE_EQ(total_tokens_per_s(trial), 38.0 / 3);
}

TEST(Throughput, KnowsOnlyTheTotalWhereALineNamesNobody) {
  TrialRecord trial = free_trial();
  trial.token_lines = {{1 * k_second, "", 10}, {3 * k_second, "", 30}};
  EXPECT_TRUE(throughput(trial).empty());
  EXPECT_DOUBLE_EQ(total_tokens_per_s(trial), 15);
}

TEST(Throughput, TakesTheMedianOfRatesWithoutTheFirst) {
  TrialRecord trial = free_trial();
  trial.token_lines_are_rates = true;
  trial.token_lines = {{1, "a", 1}, {2, "b", 7}, {3, "a", 100}, {4, "a", 104}, {5, "a", 102}};
  const auto all = throughput(trial);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].steady_tokens_per_s, 102);
  EXPECT_DOUBLE_EQ(all[1].steady_tokens_per_s, 7); // its only one
  EXPECT_DOUBLE_EQ(total_tokens_per_s(trial), 109);
}

TEST(Throughput, IsZeroWithoutASecondStep) {
  TrialRecord trial = free_trial();
  trial.events = {pass("a tokens.enter#1", -1, k_second), tokens("a", 10, 3 * k_second)};
  EXPECT_DOUBLE_EQ(throughput(trial)[0].steady_tokens_per_s, 0);
  EXPECT_DOUBLE_EQ(throughput(trial)[0].first_step_s, 2);
  EXPECT_DOUBLE_EQ(total_tokens_per_s(trial), 0);
}

TEST(Throughput, HasNoFirstStepWhereNoneEnded) {
  TrialRecord trial = free_trial();
  trial.events = {pass("a tokens.enter#1", -1, k_second)};
  EXPECT_DOUBLE_EQ(throughput(trial)[0].first_step_s, 0);
  EXPECT_EQ(throughput(trial)[0].tokens, 0);
}

TEST(Throughput, IsMeasuredAlsoWhereOnlyTokensAreReported) {
  TrialRecord trial = free_trial(); // a native program has no tokens.enter
  trial.events = {tokens("a", 10, k_second), tokens("a", 30, 3 * k_second)};
  EXPECT_DOUBLE_EQ(throughput(trial)[0].steady_tokens_per_s, 15);
  EXPECT_DOUBLE_EQ(throughput(trial)[0].first_step_s, 0);
}

TEST(TotalThroughput, SpansAllActorsStepsAfterEachOnesFirst) {
  TrialRecord trial = free_trial();
  trial.events = steps_of("a");
  const auto b = steps_of("b", 2); // first step ends at 5 s, last at 8 s
  trial.events.insert(trial.events.end(), b.begin(), b.end());
  trial.events.push_back(tokens("once", 1000, k_second)); // one step only: counts neither tokens nor time
  EXPECT_EQ(throughput(trial).size(), 3U);
  EXPECT_DOUBLE_EQ(total_tokens_per_s(trial), (60.0 + 60.0) / (8 - 3));
}

TEST(TotalThroughput, IsZeroWithoutTokens) {
  EXPECT_DOUBLE_EQ(total_tokens_per_s(free_trial()), 0);
}

TEST(Counters, AreSummedOverProcesses) {
  TrialRecord trial = free_trial();
  trial.facts = {counters_fact("aot_autograd", "autograd_cache_hit", 2),
                 counters_fact("aot_autograd", "autograd_cache_hit", 3),
                 counters_fact("inductor", "fxgraph_cache_miss", 1),
                 {{"fact", "other"}, {"counters", {{"x", {{"y", 1}}}}}},
                 {{"fact", "counters"}, {"counters", {{"stats", {{"text", "no number"}, {"half", 0.5}}}}}},
                 {{"fact", "counters"}, {"counters", "nonsense"}}};
  EXPECT_THAT(counters(trial),
              UnorderedElementsAre(Pair("aot_autograd.autograd_cache_hit", 5), Pair("inductor.fxgraph_cache_miss", 1)));
}

result::Json entries(const result::Json& list) {
  return {{"fact", "tracer_entries"}, {"entries", list}};
}

TEST(TracerEntries, AreSummedByTracerAndWhoLedToIt) {
  TrialRecord trial = free_trial();
  trial.facts = {entries({{"drafter0", "PythonKeyTracer", "compiled call", 2}, {"main", "Tracer", "make_fx", 1}}),
                 entries({{"drafter1", "PythonKeyTracer", "compiled call", 3},
                          {"main", "PythonKeyTracer", "create_block_mask", 4}})};
  EXPECT_THAT(tracer_entries(trial),
              UnorderedElementsAre(Pair("PythonKeyTracer from compiled call", 5), Pair("Tracer from make_fx", 1),
                                   Pair("PythonKeyTracer from create_block_mask", 4)));
}

TEST(TracerEntries, SayThatNoneCameFromCreateBlockMask) {
  TrialRecord trial = free_trial();
  trial.facts = {entries({{"drafter0", "PythonKeyTracer", "compiled call", 2}})};
  EXPECT_THAT(tracer_entries(trial),
              UnorderedElementsAre(Pair("PythonKeyTracer from compiled call", 2), Pair("create_block_mask", 0)));
  trial.facts = {entries(result::Json::array())};
  EXPECT_THAT(tracer_entries(trial), ElementsAre(Pair("create_block_mask", 0)));
}

TEST(TracerEntries, SayNothingWhereTheAgentDidNotLook) {
  EXPECT_TRUE(tracer_entries(free_trial()).empty());
}

TEST(TracerEntries, LeaveOutWhatHasAnotherShape) {
  TrialRecord trial = free_trial();
  trial.facts = {entries({{"a", "b"}, "text", {"drafter0", "T", "make_fx", 1}})};
  EXPECT_EQ(tracer_entries(trial).at("T from make_fx"), 1);
  EXPECT_EQ(tracer_entries(trial).size(), 2U);
}

} // namespace
} // namespace racelab::oracle::test

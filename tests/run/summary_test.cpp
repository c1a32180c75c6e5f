// A cell's figures, and a run's exit code.
#include "run/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::run {
namespace {

using base::ExitCode;
using result::CellResult;
using result::ScheduleStatus;
using result::TrialResult;
using result::Verdict;
using testing::ElementsAre;
using testing::Pair;

TrialResult trial(ScheduleStatus status, const std::vector<std::string>& faults = {}) {
  TrialResult made;
  made.status = status;
  for (const std::string& kind : faults)
    made.faults.push_back({kind, "", -1, "", "", ""});
  return made;
}

CellResult summarised(std::vector<TrialResult> trials, std::vector<std::pair<std::string, std::string>> expected = {}) {
  CellResult cell;
  cell.trial_results = std::move(trials);
  cell.expected = std::move(expected);
  summarise(cell);
  return cell;
}

std::vector<std::string> faults_of(const CellResult& cell) {
  std::vector<std::string> texts;
  for (const auto& [kind, p] : cell.faults)
    texts.push_back(kind + " " + std::to_string(p.k) + "/" + std::to_string(p.n));
  return texts;
}

TEST(Summary, CountsEveryStatus) {
  std::vector<TrialResult> trials;
  const ScheduleStatus statuses[] = {ScheduleStatus::realised, ScheduleStatus::unreachable, ScheduleStatus::impossible,
                                     ScheduleStatus::diverged, ScheduleStatus::unproved,    ScheduleStatus::free};
  for (std::size_t i = 0; i < std::size(statuses); ++i)
    trials.insert(trials.end(), i + 1, trial(statuses[i])); // one realised, two unreachable, …
  const CellResult cell = summarised(trials);
  EXPECT_EQ(cell.trials, 21);
  EXPECT_EQ(cell.realised, 1);
  EXPECT_EQ(cell.unreachable, 2);
  EXPECT_EQ(cell.impossible, 3);
  EXPECT_EQ(cell.diverged, 4);
  EXPECT_EQ(cell.unproved, 5);
}

TEST(Summary, CountsTrialsWithAFaultNotFaults) {
  const CellResult cell =
      summarised({trial(ScheduleStatus::realised, {"nested_tracing", "nested_tracing", "crash"}),
                  trial(ScheduleStatus::realised, {"nested_tracing"}), trial(ScheduleStatus::realised)});
  EXPECT_THAT(faults_of(cell), ElementsAre("nested_tracing 2/3", "crash 1/3")); // in the vocabulary's order
  EXPECT_GT(cell.faults[0].second.low, 0.1);
  EXPECT_LT(cell.faults[0].second.high, 1.0);
}

TEST(Summary, ListsFaultsThatAreExpectedButNotThoseThatShouldNeverBe) {
  const CellResult cell = summarised({trial(ScheduleStatus::realised)},
                                     {{"status", "realised"}, {"hang", "always"}, {"crash", "never"}, {"slow", "any"}});
  EXPECT_THAT(faults_of(cell), ElementsAre("hang 0/1", "slow 0/1"));
}

TEST(Summary, SpreadsThroughputOverTheTrialsThatHaveSome) {
  std::vector<TrialResult> trials(3);
  trials[0].total_tokens_per_s = 100;
  trials[1].total_tokens_per_s = 300;
  trials[0].throughput = {{"a", 10, 60, 2, 0}};
  trials[1].throughput = {{"a", 10, 80, 0, 0}, {"b", 10, 5, 1, 0}}; // a had no first step there
  trials[2].throughput = {{"a", 10, 0, 0, 0}};                      // nor any other here
  trials[0].tracer_entries = {{"x", 1}};
  trials[2].tracer_entries = {{"x", 2}, {"create_block_mask", 0}};
  const CellResult cell = summarised(trials);
  EXPECT_EQ(cell.total_tokens_per_s.n, 2);
  EXPECT_EQ(cell.total_tokens_per_s.median, 200);
  ASSERT_EQ(cell.tokens_per_s.size(), 2U);
  EXPECT_EQ(cell.tokens_per_s[0].first, "a");
  EXPECT_EQ(cell.tokens_per_s[0].second.median, 70);
  EXPECT_EQ(cell.tokens_per_s[1].second.n, 1);
  ASSERT_EQ(cell.first_step_s.size(), 2U);
  EXPECT_EQ(cell.first_step_s[0].second.n, 1);
  EXPECT_EQ(cell.first_step_s[0].second.median, 2);
  EXPECT_THAT(cell.tracer_entries, ElementsAre(Pair("create_block_mask", 0), Pair("x", 3)));
}

TEST(Summary, ThatIsMadeAgainIsTheSame) {
  std::vector<TrialResult> trials{trial(ScheduleStatus::realised, {"crash"}), trial(ScheduleStatus::unproved)};
  trials[0].throughput = {{"a", 10, 60, 2, 0}};
  trials[0].total_tokens_per_s = 60;
  trials[0].tracer_entries = {{"x", 1}};
  CellResult cell = summarised(trials);
  scenario::CellExpectation expectation;
  expectation.tokens_per_s = {{"total", 200}};
  for (int i = 0; i < 2; ++i) {
    summarise(cell);
    add_slow_faults(expectation, cell);
    EXPECT_EQ(cell.realised, 1);
    EXPECT_EQ(cell.unproved, 1);
    EXPECT_THAT(faults_of(cell), ElementsAre("crash 1/2", "slow 2/2"));
    EXPECT_EQ(cell.trial_results[0].faults.size(), 2U);
    EXPECT_EQ(cell.tokens_per_s.size(), 1U);
    EXPECT_EQ(cell.first_step_s.size(), 1U);
    EXPECT_THAT(cell.tracer_entries, ElementsAre(Pair("x", 1)));
  }
}

TEST(Summary, OfNoTrialsIsEmpty) {
  const CellResult cell = summarised({}, {{"hang", "always"}});
  EXPECT_EQ(cell.trials, 0);
  EXPECT_EQ(cell.total_tokens_per_s.n, 0);
  EXPECT_THAT(faults_of(cell), ElementsAre("hang 0/0"));
}

TEST(Expectation, IsNotedInWords) {
  scenario::CellExpectation expectation;
  expectation.status = {"impossible", "unreachable"};
  expectation.faults = {{"a", scenario::Frequency::always},
                        {"b", scenario::Frequency::never},
                        {"c", scenario::Frequency::sometimes},
                        {"d", scenario::Frequency::any}};
  CellResult cell;
  note_expectation(expectation, cell);
  EXPECT_THAT(cell.expected, ElementsAre(Pair("status", "impossible or unreachable"), Pair("a", "always"),
                                         Pair("b", "never"), Pair("c", "sometimes"), Pair("d", "any")));
}

TEST(SlowFaults, AreAddedToTheTrialsAndCounted) {
  std::vector<TrialResult> trials(3);
  for (int i = 0; i < 3; ++i)
    trials[static_cast<std::size_t>(i)].total_tokens_per_s = 100 * (i + 1);
  CellResult cell = summarised(trials);
  add_slow_faults({}, cell);
  EXPECT_THAT(faults_of(cell), ElementsAre());
  scenario::CellExpectation expectation;
  expectation.tokens_per_s = {{"total", 200}};
  add_slow_faults(expectation, cell);
  EXPECT_THAT(faults_of(cell), ElementsAre("slow 1/3"));
  EXPECT_EQ(cell.trial_results[0].faults.size(), 1U);
  EXPECT_TRUE(cell.trial_results[1].faults.empty());
}

TrialOutcome outcome(bool proved, const std::string& message, std::int64_t files) {
  TrialOutcome made;
  made.state_proved = proved;
  made.state_message = message;
  made.cache_before = {files, 10 * files};
  made.cache_after = {files + 1, 10 * files + 5};
  made.result.cache_counters = {{"aot_autograd.autograd_cache_hit", 2}, {"inductor.fxgraph_cache_miss", 1}};
  return made;
}

TEST(CacheProof, IsThatOfTheFirstTrialUnlessALaterOneFails) {
  CellResult cell;
  cell.cache_proof.proved = true;
  note_cache(outcome(true, "first", 7), true, cell);
  note_cache(outcome(true, "second", 8), false, cell);
  EXPECT_TRUE(cell.cache_proof.proved);
  EXPECT_EQ(cell.cache_proof.message, "first");
  EXPECT_EQ(cell.cache_proof.hits, 4);
  EXPECT_EQ(cell.cache_proof.misses, 2);
  EXPECT_EQ(cell.cache_proof.entries_before, 7);
  EXPECT_EQ(cell.cache_proof.bytes_after, 75);
  note_cache(outcome(false, "third fails", 9), false, cell);
  note_cache(outcome(false, "fourth fails", 9), false, cell);
  note_cache(outcome(true, "fifth", 9), false, cell);
  EXPECT_FALSE(cell.cache_proof.proved);
  EXPECT_EQ(cell.cache_proof.message, "third fails"); // the first that failed says why
}

TEST(CacheProof, OfAFirstTrialThatFailsKeepsItsMessage) {
  CellResult cell;
  cell.cache_proof.proved = true;
  note_cache(outcome(false, "first fails", 0), true, cell);
  note_cache(outcome(false, "second fails", 0), false, cell);
  EXPECT_FALSE(cell.cache_proof.proved);
  EXPECT_EQ(cell.cache_proof.message, "first fails");
}

TEST(NewCell, IsWhatItsContextSaysAndHowToRunItAgain) {
  CellContext context;
  context.cell = {"cold/nested", "current", "cold", "1t3d", "nested", "none", 3};
  context.placement.text = "1t3d on CPU";
  context.interleaving.kind = schedule::InterleavingKind::ordered;
  const CellResult cell = new_cell(context, "racelab run x.yaml", " --toolkit t");
  EXPECT_EQ(cell.id, "cold/nested");
  EXPECT_EQ(cell.layout_text, "1t3d on CPU");
  EXPECT_EQ(cell.repeat, "racelab run x.yaml --toolkit t -k 'cold/nested'");
  EXPECT_TRUE(cell.controlled);
  context.interleaving.kind = schedule::InterleavingKind::free;
  EXPECT_FALSE(new_cell(context, "", "").controlled);
  context.cell.id = "cold/nested/current"; // a run of several toolkits; its repetition has one
  EXPECT_EQ(new_cell(context, "r", "").repeat, "r -k 'cold/nested'");
}

result::RunResult run_of(const std::vector<Verdict>& verdicts, int trials = 3) {
  result::RunResult run;
  for (const Verdict verdict : verdicts) {
    run.cells.emplace_back();
    run.cells.back().verdict = verdict;
    run.cells.back().trials = verdict == Verdict::skipped ? 0 : trials;
  }
  return run;
}

TEST(ExitCode, FollowsFromTheVerdicts) {
  const std::pair<std::vector<Verdict>, ExitCode> cases[] = {
      {{Verdict::ok}, ExitCode::ok},
      {{Verdict::ok, Verdict::expected, Verdict::flaky, Verdict::skipped}, ExitCode::ok},
      {{Verdict::ok, Verdict::failed}, ExitCode::expectation_failed},
      {{Verdict::fixed}, ExitCode::expectation_failed},
      {{Verdict::ok, Verdict::inconclusive}, ExitCode::inconclusive},
      {{Verdict::inconclusive, Verdict::failed}, ExitCode::expectation_failed},
      {{Verdict::skipped, Verdict::skipped}, ExitCode::nothing_ran},
      {{}, ExitCode::nothing_ran},
  };
  for (const auto& [verdicts, code] : cases) {
    EXPECT_EQ(exit_code_of(run_of(verdicts), false), code);
    EXPECT_EQ(exit_code_of(run_of(verdicts), true), ExitCode::interrupted);
  }
}

TEST(ExitCode, IsNothingRanWhereNoCellGotToATrial) {
  EXPECT_EQ(exit_code_of(run_of({Verdict::inconclusive}, 0), false), ExitCode::nothing_ran);
}

TEST(ExitCode, HasAMeaningInWords) {
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 130})
    EXPECT_GT(meaning_of(static_cast<ExitCode>(code)).size(), 5U) << code;
}

} // namespace
} // namespace racelab::run

// From what was seen and what is expected to a cell's verdict.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

using result::CellResult;
using result::Verdict;
using scenario::CellExpectation;
using scenario::Frequency;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A controlled cell all of whose trials were realised and whose cache is proved.
CellResult cell(int trials) {
  CellResult made;
  made.trials = made.realised = trials;
  made.controlled = true;
  made.cache_proof.proved = true;
  made.trial_results.resize(static_cast<std::size_t>(trials));
  return made;
}

CellResult with_fault(int k, int n, const std::string& kind = "nested_tracing") {
  CellResult made = cell(n);
  made.faults.emplace_back(kind, result::Proportion{k, n, 0, 1});
  return made;
}

CellExpectation expecting(Frequency frequency, const std::string& kind = "nested_tracing") {
  CellExpectation expectation;
  expectation.faults.emplace_back(kind, frequency);
  return expectation;
}

CellResult judged(CellResult made, const CellExpectation& expectation = {}) {
  judge(made, expectation);
  return made;
}

TEST(Verdict, OfAFaultFollowsFromHowOftenItIsExpectedAndSeen) {
  struct Row {
    Frequency expected;
    int k;
    Verdict verdict;
  };
  constexpr int n = 3;
  const Row rows[] = {
      {Frequency::always, 3, Verdict::expected}, {Frequency::always, 2, Verdict::failed},
      {Frequency::always, 1, Verdict::failed},   {Frequency::always, 0, Verdict::fixed},
      {Frequency::never, 3, Verdict::failed},    {Frequency::never, 1, Verdict::failed},
      {Frequency::never, 0, Verdict::ok},        {Frequency::sometimes, 3, Verdict::expected},
      {Frequency::sometimes, 1, Verdict::flaky}, {Frequency::sometimes, 0, Verdict::fixed},
      {Frequency::any, 3, Verdict::expected},    {Frequency::any, 1, Verdict::flaky},
      {Frequency::any, 0, Verdict::ok},
  };
  for (const Row& row : rows) {
    const CellResult made = judged(with_fault(row.k, n), expecting(row.expected));
    EXPECT_EQ(made.verdict, row.verdict) << "expected " << static_cast<int>(row.expected) << ", seen " << row.k
                                         << " of " << n << ": " << result::to_string(made.verdict);
    EXPECT_EQ(made.reasons.empty(), row.verdict != Verdict::failed && row.verdict != Verdict::fixed);
  }
}

TEST(Verdict, SaysHowOftenAFaultWasSeen) {
  EXPECT_THAT(judged(with_fault(2, 3)).reasons,
              ElementsAre("nested_tracing is not expected and was seen in 2 of 3 trials"));
  EXPECT_THAT(judged(with_fault(2, 3), expecting(Frequency::always)).reasons,
              ElementsAre("nested_tracing is expected in every trial and was seen in 2 of 3"));
  EXPECT_THAT(judged(with_fault(0, 3), expecting(Frequency::always)).reasons,
              ElementsAre("nested_tracing is expected in every trial and was seen in none: fixed?"));
  EXPECT_THAT(judged(with_fault(0, 3), expecting(Frequency::sometimes)).reasons,
              ElementsAre("nested_tracing is expected at least once and was not seen in 3 trials: fixed?"));
}

TEST(Verdict, OfAnExpectedFaultThatTheCellDoesNotEvenCountIsFixed) {
  EXPECT_EQ(judged(cell(3), expecting(Frequency::always)).verdict, Verdict::fixed);
}

TEST(Verdict, OfAFaultThatNoRuleNamesIsFailed) {
  for (const FaultKind& kind : fault_kinds())
    EXPECT_EQ(judged(with_fault(1, 5, kind.name), expecting(Frequency::any, "another")).verdict, Verdict::failed)
        << kind.name;
}

TEST(Verdict, OfARealisedCellWithoutFaultsIsOk) {
  const CellResult made = judged(cell(3));
  EXPECT_EQ(made.verdict, Verdict::ok);
  EXPECT_THAT(made.reasons, IsEmpty());
}

CellResult with_status(int CellResult::*status, int k, int n) {
  CellResult made = cell(n);
  made.realised = n - k;
  made.*status += k;
  made.trial_results.back().status_reason = "because";
  return made;
}

TEST(Verdict, OfAnOrderThatWasNotRealisedIsInconclusiveWhereNothingIsSaidOfIt) {
  for (const auto& [status, name] : {std::pair{&CellResult::unreachable, "unreachable"},
                                     {&CellResult::impossible, "impossible"},
                                     {&CellResult::diverged, "diverged"}}) {
    const CellResult made = judged(with_status(status, 1, 3));
    EXPECT_EQ(made.verdict, Verdict::inconclusive);
    EXPECT_THAT(made.reasons, ElementsAre("the order was " + std::string(name) + " in 1 of 3 trials: because"));
  }
}

TEST(Verdict, OfAStatusThatIsNotTheExpectedOneIsFailed) {
  CellExpectation expectation;
  expectation.status = {"impossible", "unreachable"};
  const CellResult made = judged(cell(3), expectation);
  EXPECT_EQ(made.verdict, Verdict::failed);
  EXPECT_THAT(made.reasons,
              ElementsAre("the order was realised in 3 of 3 trials (expected: impossible or unreachable)"));
}

TEST(Verdict, OfAnExpectedStatusIsOkAndGivesItsReason) {
  CellExpectation expectation;
  expectation.status = {"impossible", "unreachable"};
  const CellResult made = judged(with_status(&CellResult::impossible, 3, 3), expectation);
  EXPECT_EQ(made.verdict, Verdict::ok);
  EXPECT_THAT(made.reasons, ElementsAre("because"));
}

TEST(Verdict, DemandsAnExpectedStatusOfEveryTrial) {
  CellExpectation expectation;
  expectation.status = {"impossible"};
  EXPECT_EQ(judged(with_status(&CellResult::impossible, 2, 3), expectation).verdict, Verdict::failed);
}

TEST(Verdict, SaysNothingOfAnExpectedFaultWhoseOrderWasNeverRealised) {
  for (const Frequency frequency : {Frequency::always, Frequency::sometimes, Frequency::any}) {
    CellExpectation expectation = expecting(frequency);
    EXPECT_EQ(judged(with_status(&CellResult::unreachable, 3, 3), expectation).verdict, Verdict::inconclusive);
    expectation.status = {"unreachable"};
    EXPECT_EQ(judged(with_status(&CellResult::unreachable, 3, 3), expectation).verdict, Verdict::ok);
  }
  // Realised once is enough for a word on it.
  EXPECT_EQ(judged(with_status(&CellResult::unreachable, 2, 3), expecting(Frequency::always)).verdict, Verdict::fixed);
}

TEST(Verdict, OfAFaultOfTheScenariosOwnFollowsTheSameRules) {
  EXPECT_EQ(judged(with_fault(1, 3, "loss_is_nan")).verdict, Verdict::failed);
  EXPECT_EQ(judged(with_fault(3, 3, "loss_is_nan"), expecting(Frequency::always, "loss_is_nan")).verdict,
            Verdict::expected);
  EXPECT_EQ(judged(cell(3), expecting(Frequency::always, "loss_is_nan")).verdict, Verdict::fixed);
  EXPECT_THAT(judged(with_fault(1, 3, "crash"), expecting(Frequency::always, "crash")).reasons, testing::SizeIs(1));
}

TEST(Verdict, OfAFreeCellDoesNotDependOnStatuses) {
  CellResult made = with_status(&CellResult::unreachable, 3, 3);
  made.controlled = false;
  EXPECT_EQ(judged(made).verdict, Verdict::ok);
}

TEST(Verdict, OfAnUnprovedTrialIsInconclusiveControlledOrNot) {
  for (const bool controlled : {true, false}) {
    CellResult made = with_status(&CellResult::unproved, 1, 3);
    made.controlled = controlled;
    made = judged(made);
    EXPECT_EQ(made.verdict, Verdict::inconclusive);
    EXPECT_THAT(made.reasons, ElementsAre("unproved in 1 of 3 trials: because"));
  }
}

TEST(Verdict, OfAnUnprovedCacheIsInconclusive) {
  CellResult made = cell(3);
  made.cache_proof.proved = false;
  made.cache_proof.message = "no look-up hit";
  made = judged(made);
  EXPECT_EQ(made.verdict, Verdict::inconclusive);
  EXPECT_THAT(made.reasons, ElementsAre("the cache state is not proved: no look-up hit"));
}

TEST(Verdict, OfASkippedCellIsSkippedWhateverItHolds) {
  CellResult made = with_fault(3, 3);
  made.skipped = "no GPU";
  made = judged(made);
  EXPECT_EQ(made.verdict, Verdict::skipped);
  EXPECT_THAT(made.reasons, IsEmpty());
}

TEST(Verdict, OfACellWithoutTrialsIsInconclusive) {
  CellResult made = judged(cell(0), expecting(Frequency::always));
  EXPECT_EQ(made.verdict, Verdict::inconclusive);
  EXPECT_THAT(made.reasons, ElementsAre("no trial ran"));
}

TEST(Verdict, IsTheHeaviestFindingWhoseReasonComesFirst) {
  CellResult made = with_fault(1, 3, "crash"); // failed
  made.faults.emplace_back("slow", result::Proportion{1, 3, 0, 1});
  made.cache_proof.proved = false; // inconclusive
  made.cache_proof.message = "m";
  CellExpectation expectation = expecting(Frequency::always); // fixed
  expectation.faults.emplace_back("slow", Frequency::any);    // flaky
  made = judged(made, expectation);
  EXPECT_EQ(made.verdict, Verdict::failed);
  ASSERT_EQ(made.reasons.size(), 3U);
  EXPECT_THAT(made.reasons[0], HasSubstr("crash"));
}

TEST(Verdict, WeighsFixedOverInconclusiveOverFlakyOverExpected) {
  CellResult made = with_fault(0, 3);
  made.faults.emplace_back("slow", result::Proportion{1, 3, 0, 1});
  made.faults.emplace_back("crash", result::Proportion{3, 3, 0, 1});
  CellExpectation expectation = expecting(Frequency::any);
  expectation.faults.emplace_back("slow", Frequency::any);
  expectation.faults.emplace_back("crash", Frequency::always);
  EXPECT_EQ(judged(made, expectation).verdict, Verdict::flaky);
  made.cache_proof.proved = false;
  EXPECT_EQ(judged(made, expectation).verdict, Verdict::inconclusive);
  expectation.faults[0].second = Frequency::always;
  EXPECT_EQ(judged(made, expectation).verdict, Verdict::fixed);
}

} // namespace
} // namespace racelab::oracle::test

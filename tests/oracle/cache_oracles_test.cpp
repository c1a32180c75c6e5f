// Wrong results, and what became of a bad cache.
#include "support.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

using testing::HasSubstr;

TEST(WrongResult, IsADifferenceBeyondTheTolerance) {
  const Results serial{{"a", {1.0, 2.0}}, {"b", {100.0}}};
  EXPECT_TRUE(wrong_results({{"a", {1.0, 2.0}}, {"b", {100.0005}}}, serial, 1e-5).empty());
  const auto wrong = wrong_results({{"a", {1.0, 2.5}}, {"b", {100.002}}}, serial, 1e-5);
  ASSERT_EQ(wrong.size(), 2U);
  EXPECT_EQ(wrong[0].kind, "wrong_result");
  EXPECT_EQ(wrong[0].actor, "a");
  EXPECT_THAT(wrong[0].message, HasSubstr("result 2 is 2.5, the serial run's is 2"));
}

TEST(WrongResult, IsNotAnActorThatEndedEarly) {
  EXPECT_TRUE(wrong_results({{"a", {1.0}}}, {{"a", {1.0, 2.0}}, {"b", {3.0}}}, 1e-5).empty());
}

TEST(WrongResult, IsOneMoreThanTheSerialRunHas) {
  EXPECT_THAT(wrong_results({{"a", {1.0, 2.0}}}, {{"a", {1.0}}}, 1e-5).at(0).message, HasSubstr("has only 1"));
  EXPECT_EQ(wrong_results({{"new", {1.0}}}, {}, 1e-5).size(), 1U);
}

TEST(WrongResult, MayBeMixedByProcesses) {
  const Results serial{{"a", {1.0, 2.0, 3.0}}};
  EXPECT_TRUE(wrong_results({{"a", {1.0, 1.0, 2.0, 3.0, 2.0, 3.0}}}, serial, 1e-5, 2).empty());
  EXPECT_TRUE(wrong_results({{"a", {1.0, 2.0, 1.0, 3.0}}}, serial, 1e-5, 2).empty()); // one ended early
  EXPECT_THAT(wrong_results({{"a", {1.0, 1.0, 1.0, 2.0}}}, serial, 1e-5, 2).at(0).message, HasSubstr("result 3 of 2"));
  EXPECT_EQ(wrong_results({{"a", {1.0, 1.0, 2.0, 3.0, 2.0, 3.0}}}, serial, 1e-5).size(), 1U); // by one process
}

TEST(WrongResult, OfASecondProcessIsComparedWithTheFirstOnes) {
  const Results serial{{"drafter0", {1.0}}};
  EXPECT_TRUE(wrong_results({{"drafter0@2", {1.0}}}, serial, 1e-5, 2).empty());
  EXPECT_EQ(wrong_results({{"drafter0@2", {2.0}}}, serial, 1e-5, 2).size(), 1U);
  EXPECT_EQ(wrong_results({{"drafter0@2", {1.0}}}, serial, 1e-5).size(), 1U);
}

TEST(WrongResult, TellsNanFromNumbers) {
  const double nan = std::nan("");
  EXPECT_TRUE(wrong_results({{"a", {nan}}}, {{"a", {nan}}}, 1e-5).empty());
  EXPECT_EQ(wrong_results({{"a", {nan}}}, {{"a", {1.0}}}, 1e-5).size(), 1U);
  EXPECT_EQ(wrong_results({{"a", {1.0}}}, {{"a", {nan}}}, 1e-5).size(), 1U);
}

TEST(CacheOutcome, IsTheWorstThatHappened) {
  result::TrialResult trial;
  EXPECT_EQ(cache_outcome(trial, false, ""), "did not notice");
  EXPECT_EQ(cache_outcome(trial, false, "W1129 10:12:13.1 47 torch/x.py:1] unable to load\n"), "warned");
  EXPECT_EQ(cache_outcome(trial, true, "Words of the program\nW2\n"), "recomputed");
  EXPECT_EQ(cache_outcome(trial, true, "x.py:3: UserWarning: cache\n"), "warned and recomputed");
  const std::pair<const char*, const char*> worse[] = {
      {"compile_error", "raised"}, {"hang", "hung"}, {"crash", "crashed"}, {"wrong_result", "used a wrong artefact"}};
  for (const auto& [kind, outcome] : worse) {
    trial.faults.push_back({kind, "", -1, "", "", ""});
    EXPECT_EQ(cache_outcome(trial, false, ""), outcome);
  }
}

} // namespace
} // namespace racelab::oracle::test

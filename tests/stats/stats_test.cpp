#include "stats/stats.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace racelab::stats {
namespace {

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double k_inf = std::numeric_limits<double>::infinity();

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i)
    values.push_back(i);
  return values;
}

TEST(Proportion, KnowsNothingWithoutTrials) {
  const auto none = proportion(0, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 1);
}

TEST(Proportion, AgreesWithPublishedWilsonIntervals) {
  // R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statist. Med. 17 (1998) 857-872, table
  // I.
  EXPECT_NEAR(proportion(81, 263).low, 0.2553, 5e-5);
  EXPECT_NEAR(proportion(81, 263).high, 0.3662, 5e-5);
  EXPECT_NEAR(proportion(15, 148).low, 0.0624, 5e-5);
  EXPECT_NEAR(proportion(15, 148).high, 0.1605, 5e-5);
  EXPECT_NEAR(proportion(0, 20).high, 0.1611, 5e-5);
  EXPECT_NEAR(proportion(1, 29).low, 0.0061, 5e-5);
  EXPECT_NEAR(proportion(1, 29).high, 0.1718, 5e-5);
}

TEST(Proportion, IsExactAtTheEndsAndNeverLeavesTheUnitInterval) {
  for (int n = 1; n <= 200; ++n) {
    EXPECT_EQ(proportion(0, n).low, 0);
    EXPECT_EQ(proportion(n, n).high, 1);
    for (int k = 0; k <= n; ++k) {
      const auto p = proportion(k, n);
      ASSERT_LE(0, p.low);
      ASSERT_LE(p.low, static_cast<double>(k) / n);
      ASSERT_LE(static_cast<double>(k) / n, p.high);
      ASSERT_LE(p.high, 1);
      ASSERT_NEAR(p.low, 1 - proportion(n - k, n).high, 1e-12); // symmetric
    }
  }
}

TEST(ProportionDeathTest, RefusesMoreThanAll) {
  EXPECT_DEATH(proportion(2, 1), "internal error");
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

TEST(Median, DoesNotExistWithoutValues) {
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(median(std::vector<double>{k_nan, k_inf})));
}

TEST(Median, LeavesOutWhatIsNotFinite) {
  EXPECT_EQ(median(std::vector<double>{k_nan, 1, 2, 3, -k_inf, k_nan}), 2);
}

TEST(Median, DoesNotOverflow) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(median(std::vector<double>{most, most}), most);
}

TEST(Spread, IsEmptyWithoutValues) {
  const auto none = spread(std::vector<double>{k_nan});
  EXPECT_EQ(none.n, 0);
  EXPECT_EQ(none.median, 0);
}

TEST(Spread, OfOneValueIsThatValue) {
  const auto one = spread(std::vector<double>{5});
  EXPECT_EQ(one.n, 1);
  EXPECT_EQ(one.low, 5);
  EXPECT_EQ(one.high, 5);
}

TEST(Spread, CountsOnlyWhatIsFinite) {
  const auto two = spread(std::vector<double>{k_nan, 5, 7, k_inf});
  EXPECT_EQ(two.n, 2);
  EXPECT_EQ(two.low, 5);
  EXPECT_EQ(two.high, 7);
}

TEST(Spread, TakesTheExtremesOfFewValues) {
  const auto five = spread(one_to(5));
  EXPECT_EQ(five.low, 1);
  EXPECT_EQ(five.high, 5);
}

TEST(Spread, TakesTheRanksOfTheSignTestTables) {
  // The critical value of the two-sided sign test at 5 %, as tabulated, plus one.
  const std::vector<std::pair<int, int>> n_and_rank = {{6, 1},  {8, 1},  {9, 2},   {11, 2},
                                                       {12, 3}, {20, 6}, {50, 18}, {100, 40}};
  for (const auto& [n, rank] : n_and_rank) {
    const auto values = spread(one_to(n));
    EXPECT_EQ(values.low, rank) << "n = " << n;
    EXPECT_EQ(values.high, n + 1 - rank) << "n = " << n;
  }
}

TEST(Spread, StaysNarrowWhereTheBinomialUnderflows) {
  const auto many = spread(one_to(10'000));
  EXPECT_NEAR(many.low, 5000 - 98, 2); // n/2 - z sqrt(n)/2
  EXPECT_NEAR(many.high, 5000 + 98, 2);
}

TEST(Spread, HoldsTheMedianAsOftenAsItPromises) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 1); // its median is 1
  int held = 0;
  constexpr int k_runs = 4000;
  for (int run = 0; run < k_runs; ++run) {
    std::vector<double> values(15);
    for (double& value : values)
      value = skewed(random);
    const auto s = spread(values);
    held += s.low <= 1 && 1 <= s.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(held) / k_runs, 0.9648, 0.012); // 1 - 2 P(B(15, 1/2) < 4), four standard errors
}

} // namespace
} // namespace racelab::stats

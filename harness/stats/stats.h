#pragma once
// Statistics of a cell: what k faults in n trials, or a handful of throughputs, allow to be said. All intervals are of
// 95 %.
#include "result/result.h"

#include <span>

namespace racelab::stats {

// The 0.975 quantile of the standard normal distribution: a two-sided interval of 95 %.
constexpr double k_z95 = 1.959963984540054;

// k of n with its score interval, which unlike the textbook one is right for few trials and never leaves [0, 1].
// Nothing tried (n = 0) says nothing: [0, 1]. Requires 0 <= k <= n.
//   centre = (p + z²/2n) / (1 + z²/n),  half width = z / (1 + z²/n) * sqrt(p(1-p)/n + z²/4n²),  p = k/n
// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", J. Amer. Statist.
// Assoc. 22 (1927) 209-212.
result::Proportion proportion(int k, int n);

// The middle value, or the mean of the two middle ones. Values that are not finite are left out; NaN if none remains.
double median(std::span<const double> values);

// Median and an interval of it that assumes nothing about the distribution: with the values sorted, x(j) and x(n+1-j)
// hold the median of the population between them with probability 1 - 2 P(B < j), B binomial(n, 1/2). The narrowest
// such interval of at least 95 % is taken. That takes six values; with fewer it is the extremes, which promise less (n
// = 5: 93.75 %, n = 1: nothing). Values that are not finite are left out; n counts those that remain, and n = 0 leaves
// all zero. Source: W. R. Thompson, "On confidence ranges for the median and other expectation distributions for
// populations of unknown distribution form", Ann. Math. Statist. 7 (1936) 122-128.
result::Spread spread(std::span<const double> values);

} // namespace racelab::stats

#include "stats/stats.h"

#include "base/assert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace racelab::stats {

namespace {

constexpr double k_confidence = 0.95;

std::vector<double> sorted_finite(std::span<const double> values) {
  std::vector<double> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [](double value) { return std::isfinite(value); });
  std::sort(kept.begin(), kept.end());
  return kept;
}

double middle_of(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  // Halved first: the sum of two finite values may overflow.
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
}

// The greatest j >= 1 for which x(j)..x(n+1-j) has the wanted confidence; 1 if even the extremes have not.
std::size_t narrowest_rank(std::size_t n) {
  const double count = static_cast<double>(n);
  double below = 0; // P(B < j)
  std::size_t j = 1;
  for (; j <= n / 2; ++j) {
    const double i = static_cast<double>(j - 1);
    // log of binomial(n, i) / 2^n: the power alone underflows beyond n = 1074
    below +=
        std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) - count * std::numbers::ln2);
    if (1 - 2 * below < k_confidence)
      break;
  }
  return std::max<std::size_t>(1, j - 1);
}

} // namespace

result::Proportion proportion(int k, int n) {
  RACELAB_ASSERT(0 <= k && k <= n);
  result::Proportion result{.k = k, .n = n};
  if (n == 0)
    return result;
  const double p = static_cast<double>(k) / n, z2n = k_z95 * k_z95 / n;
  const double centre = (p + z2n / 2) / (1 + z2n);
  const double half = k_z95 / (1 + z2n) * std::sqrt(p * (1 - p) / n + z2n / (4.0 * n));
  // The ends are exact at k = 0 and k = n; rounding must not move them.
  result.low = k == 0 ? 0 : std::max(0.0, centre - half);
  result.high = k == n ? 1 : std::min(1.0, centre + half);
  return result;
}

double median(std::span<const double> values) {
  const std::vector<double> sorted = sorted_finite(values);
  return sorted.empty() ? std::numeric_limits<double>::quiet_NaN() : middle_of(sorted);
}

result::Spread spread(std::span<const double> values) {
  const std::vector<double> sorted = sorted_finite(values);
  if (sorted.empty())
    return {};
  const std::size_t n = sorted.size(), j = narrowest_rank(n);
  return {.median = middle_of(sorted), .low = sorted[j - 1], .high = sorted[n - j], .n = static_cast<int>(n)};
}

} // namespace racelab::stats

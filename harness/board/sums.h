#pragma once
// Sums of numbers that lie in the board's memory, where the program under test may have written anything.
#include <cstdint>
#include <limits>

namespace racelab::board {

// ns; the first summand may be anything.
inline std::int64_t clamped_sum(std::int64_t some, std::int64_t more) {
  return some > 0 && more > std::numeric_limits<std::int64_t>::max() - some ? std::numeric_limits<std::int64_t>::max()
                                                                            : some + more;
}

// `some` may be anything, and wraps.
inline std::int32_t wrapped_sum(std::int32_t some, std::int32_t more) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(some) + static_cast<std::uint32_t>(more));
}

} // namespace racelab::board

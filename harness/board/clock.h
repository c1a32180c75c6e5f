#pragma once
// The one clock of a trial: CLOCK_MONOTONIC is the same in every process of the machine.
#include <cstdint>
#include <ctime>

namespace racelab::board {

inline std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

} // namespace racelab::board

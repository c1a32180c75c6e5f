#pragma once
// Waiting on a word of shared memory: spin briefly, then sleep in the kernel. Waking another core through the kernel
// costs 30 to 60 us, a word that somebody looks at about 0.1 us.
#include "board/clock.h"
#include "board/layout.h"

#include <atomic>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace racelab::board {

constexpr std::int64_t k_spin_ns = 30'000; // as long as a wake-up through the kernel takes

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Looks for a while whether it has become true. Returns the time, CLOCK_MONOTONIC ns, of the last look or just before:
// reading the clock is the pause between two looks.
template <class Condition> std::int64_t spin_until(Condition condition) {
  std::int64_t now = now_ns();
  for (const std::int64_t end = now + k_spin_ns; !condition() && now < end; now = now_ns()) {
    cpu_relax();
  }
  return now;
}

// Returns once the word is granted. Spurious wake-ups and signals are absorbed.
inline void sleep_until_granted(std::atomic<Wake>& word) {
  Wake seen = Wake::waiting;
  word.compare_exchange_strong(seen, Wake::sleeping);
  while (word.load(std::memory_order_acquire) != Wake::granted) {
    // Not FUTEX_PRIVATE: the waker may be another process.
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, static_cast<std::uint32_t>(Wake::sleeping),
            nullptr, nullptr, 0);
  }
}

// For at most 1 ms, or a spurious wake-up: nobody calls.
inline void sleep_while_passed(std::atomic<Arrival>& word) {
  const timespec most{0, 1'000'000};
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, static_cast<std::uint32_t>(Arrival::passed),
          &most, nullptr, 0);
}

inline void wake_sleeper(std::atomic<Wake>& word) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

} // namespace racelab::board

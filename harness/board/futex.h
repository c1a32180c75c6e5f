#pragma once
// Waiting on a word of shared memory: spin briefly, then sleep in the kernel.
#include <atomic>
#include <climits>
#include <cstdint>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace racelab::board {

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Returns once `word` no longer holds `old`. Spurious wake-ups and signals are absorbed.
inline void futex_wait_changed(std::atomic<std::uint32_t>& word, std::uint32_t old, int spin) {
  for (int i = 0; i < spin; ++i) {
    if (word.load(std::memory_order_acquire) != old) {
      return;
    }
    cpu_relax();
  }
  while (word.load(std::memory_order_acquire) == old) {
    // Not FUTEX_PRIVATE: the waker may be another process.
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, old, nullptr, nullptr, 0);
  }
}

inline void futex_change_and_wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace racelab::board

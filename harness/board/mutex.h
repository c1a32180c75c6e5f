#pragma once
// The board's one mutex: robust, shared between processes, in memory that the program under test can overwrite.
#include <chrono>

#include <pthread.h>

namespace racelab::board {

void init_mutex(pthread_mutex_t& mutex);

// 0 or EOWNERDEAD: it is held. EINVAL: the bytes are no mutex of ours. ETIMEDOUT: for `patience` nobody has let go of
// it, which a board holds for microseconds: its owner is a process that was stopped, or a number that means nothing.
// `may_spin`: its owner may be on another core, so that looking again is better than sleeping at once.
int lock_mutex(pthread_mutex_t& mutex, bool may_spin, std::chrono::milliseconds patience);

} // namespace racelab::board

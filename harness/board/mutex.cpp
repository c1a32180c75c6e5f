#include "board/mutex.h"

#include "base/assert.h"
#include "board/futex.h"

#include <cerrno>
#include <ctime>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define RACELAB_TSAN 1
#endif
#endif

namespace racelab::board {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The mutex is held for a fraction of a microsecond; who finds it taken looks again for about two before it sleeps.
constexpr int k_looks = 40;

timespec wall_clock_in(milliseconds delay) {
  constexpr long k_ns_per_s = 1'000'000'000;
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += delay.count() / 1000;
  t.tv_nsec += delay.count() % 1000 * 1'000'000;
  if (t.tv_nsec >= k_ns_per_s) {
    ++t.tv_sec;
    t.tv_nsec -= k_ns_per_s;
  }
  return t;
}

// glibc takes its ways by this word; it must not change while mutexes of static initialisers exist (struct_mutex.h).
bool has_our_kind(const pthread_mutex_t& mutex) {
  static const int k_kind = [] {
    pthread_mutex_t fresh;
    init_mutex(fresh);
    const int kind = fresh.__data.__kind;
    pthread_mutex_destroy(&fresh);
    return kind;
  }();
  return mutex.__data.__kind == k_kind;
}

// ThreadSanitizer of clang 14 knows that pthread_mutex_lock and _trylock may say EOWNERDEAD, but not that _timedlock
// may.
void tell_sanitizer_of_dead_owner([[maybe_unused]] pthread_mutex_t& mutex) {
#ifdef RACELAB_TSAN
  __tsan_mutex_pre_lock(&mutex, __tsan_mutex_try_lock);
  __tsan_mutex_post_lock(&mutex, __tsan_mutex_try_lock, 0);
#endif
}

} // namespace

void init_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  RACELAB_ASSERT(pthread_mutex_init(&mutex, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

int lock_mutex(pthread_mutex_t& mutex, bool may_spin, milliseconds patience) {
  if (!has_our_kind(mutex)) {
    return EINVAL;
  }
  int rc = pthread_mutex_trylock(&mutex);
  for (int i = 0; rc == EBUSY && i < k_looks && may_spin; ++i) {
    cpu_relax();
    rc = pthread_mutex_trylock(&mutex);
  }
  if (rc != EBUSY) {
    return rc;
  }
  // pthread_mutex_clocklock would do, if ThreadSanitizer knew it: here the wall clock may be set meanwhile.
  const auto end = steady_clock::now() + patience;
  do {
    const timespec until = wall_clock_in(patience);
    rc = pthread_mutex_timedlock(&mutex, &until);
  } while (rc == ETIMEDOUT && steady_clock::now() < end);
  if (rc == EOWNERDEAD) {
    tell_sanitizer_of_dead_owner(mutex);
  }
  return rc;
}

} // namespace racelab::board

#pragma once
// Pinning a thread to one of the cores that the program was started on.
#include <sched.h>

namespace racelab::bench {

// As the process was started.
inline const cpu_set_t& allowed_cores() {
  static const cpu_set_t set = [] {
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    return all;
  }();
  return set;
}

inline int cores() {
  return CPU_COUNT(&allowed_cores());
}

class OnCore {
public:
  // number: 0 is the first core allowed.
  explicit OnCore(int number) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed_cores()) && number-- == 0) {
        CPU_SET(cpu, &one);
      }
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnCore() { sched_setaffinity(0, sizeof allowed_cores(), &allowed_cores()); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
};

} // namespace racelab::bench

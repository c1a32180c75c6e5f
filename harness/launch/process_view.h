#pragma once
// What the threads of a trial are doing, from /proc: enough to tell "nothing moves" from "busy" and from "sleeping for
// a while".
#include <cstdint>
#include <string>
#include <vector>

namespace racelab::launch {

struct ThreadView {
  int pid = 0, tid = 0;
  std::string name;
  char state = '?';        // R, S, D, … of proc(5)
  bool timed_wait = false; // asleep in a system call that ends by itself (a sleep, a wait with a time-out)
  std::string waits_in;    // the system call's name if it is one we know: "futex", "poll", …
};

struct TreeView {
  std::vector<int> pids; // the process, its descendants, and the daemons
  std::vector<ThreadView> threads;
  std::uint64_t cpu_ticks = 0; // user and system time of all threads and of children waited for, in clock ticks

  bool any_running() const; // a thread on a core, in the run queue or in uninterruptible I/O
  bool any_timed_wait() const;
};

// Everything below `pid`, itself included, and everything below `reaper`, without it: the daemons that have left the
// tree. Processes that vanish meanwhile are left out.
TreeView view_tree(int pid, int reaper = 0);

} // namespace racelab::launch

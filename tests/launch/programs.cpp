#include "programs.h"

#include "agent/racelab.h"

#include <csignal>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace racelab::launch::test {

namespace {

// Passes p as the actor `held`.
int held() {
  racelab_actor("held");
  racelab_point(racelab_point_id("p"));
  return 0;
}

// Likewise, while a thread `awaited` is asleep in read() until `held` has gone on.
int held_beside_a_sleeper() {
  int ends[2];
  if (pipe(ends) != 0)
    return 1;
  std::latch named(1);
  std::thread sleeper([&] {
    racelab_actor("awaited");
    named.count_down();
    char byte = 0;
    while (read(ends[0], &byte, 1) != 1) {
    }
  });
  named.wait();
  held();
  if (write(ends[1], "x", 1) != 1)
    return 1;
  sleeper.join();
  return 0;
}

// Two threads, two locks, each wants the other's.
int deadlock() {
  std::mutex mutexes[2];
  const int ids[2] = {racelab_lock_id("l"), racelab_lock_id("m")};
  std::latch both_hold(2);
  const auto take = [&](int i) {
    racelab_lock_wanted(ids[i]);
    mutexes[i].lock();
    racelab_lock_taken(ids[i]);
  };
  const auto part = [&](const char* name, int first) {
    racelab_actor(name);
    take(first);
    both_hold.arrive_and_wait();
    take(1 - first);
  };
  std::thread a(part, "a", 0), b(part, "b", 1);
  a.join();
  b.join();
  return 0;
}

// A cycle of two locks that time-outs dissolve; then both wait for a lock of a thread that hangs.
int deadlock_that_was_dissolved() {
  const int l = racelab_lock_id("l"), m = racelab_lock_id("m");
  std::latch both_hold(3), both_want(3), both_gave_up(3), hung(3);
  const auto part = [&](const char* name, int first, int second) {
    racelab_actor(name);
    racelab_lock_taken(first);
    both_hold.arrive_and_wait();
    racelab_lock_wanted(second);
    both_want.arrive_and_wait();
    racelab_lock_not_taken(second);
    racelab_lock_released(first);
    both_gave_up.arrive_and_wait();
    hung.arrive_and_wait();
    racelab_lock_wanted(l);
    pause();
  };
  std::thread a(part, "a", l, m), b(part, "b", m, l);
  racelab_actor("c");
  both_hold.arrive_and_wait();
  both_want.arrive_and_wait();
  both_gave_up.arrive_and_wait();
  racelab_lock_taken(l);
  hung.arrive_and_wait();
  pause();
  return 0;
}

int crashes_as_an_actor() {
  racelab_actor("doomed");
  std::raise(SIGKILL);
  return 0;
}

// Writes to the file of STACKS when the harness asks for stacks, as the Python side of the agent does.
int writes_stacks() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    const int fd = open(getenv("STACKS"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (write(fd, "the stacks\n", 11) == 11)
      close(fd);
  };
  sigaction(62, &action, nullptr);
  racelab_actor("busy");
  for (volatile bool always = true; always;) {
  }
  return 0;
}

} // namespace

int run_program(const std::string& name) {
  const std::map<std::string, int (*)()> programs{{"held", held},
                                                  {"held_beside_a_sleeper", held_beside_a_sleeper},
                                                  {"deadlock", deadlock},
                                                  {"deadlock_that_was_dissolved", deadlock_that_was_dissolved},
                                                  {"crashes_as_an_actor", crashes_as_an_actor},
                                                  {"writes_stacks", writes_stacks}};
  return programs.at(name)();
}

} // namespace racelab::launch::test

#include "programs.h"

#include "agent/racelab.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::agent_test {

namespace {

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                                     \
      std::exit(1);                                                                                                    \
    }                                                                                                                  \
  } while (false)

int pass(const char* point) {
  return static_cast<int>(racelab_point(racelab_point_id(point)));
}

// Every call, and what each says, one a line.
int all_calls() {
  std::printf("attach %d\n", racelab_attach());
  std::printf("actor %d\n", racelab_actor("a"));
  std::printf("current %d\n", racelab_current_actor());
  std::printf("point_id %d\n", racelab_point_id("p"));
  std::printf("lock_id %d\n", racelab_lock_id("l"));
  std::printf("point %d\n", static_cast<int>(racelab_point(0)));
  racelab_tokens(5);
  for (const int lock : {-1, 0}) {
    racelab_lock_wanted(lock);
    racelab_lock_taken(lock);
    racelab_lock_not_taken(lock);
    racelab_lock_released(lock);
  }
  racelab_fact_lost();
  racelab_actor_end();
  std::printf("error %s\n", racelab_error());
  return 0;
}

// Passes p twice and q once.
int three_passes() {
  CHECK(racelab_actor("a") >= 0);
  pass("p");
  pass("p");
  pass("q");
  return 0;
}

int one_thread() {
  CHECK(racelab_actor("main") >= 0);
  std::thread([] {
    racelab_actor("worker");
    pass("p");
  }).join();
  pass("q");
  return 0;
}

int named_by_the_system() {
  std::thread([] {
    pthread_setname_np(pthread_self(), "drafter0");
    pass("p");
  }).join();
  return 0;
}

int renamed() {
  const int one = racelab_actor("one");
  CHECK(racelab_current_actor() == one);
  pass("p");
  const int two = racelab_actor("two");
  CHECK(two != one && racelab_current_actor() == two);
  pass("p");
  racelab_actor_end();
  return 0;
}

int forks() {
  const int actor = racelab_actor("parent");
  pass("p");
  const pid_t child = fork();
  if (child == 0) {
    CHECK(racelab_current_actor() != actor);
    CHECK(racelab_actor("child") != actor);
    pass("p");
    std::exit(0); // with everything that exit() runs
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(racelab_current_actor() == actor);
  pass("p");
  return 0;
}

int unknown_names() {
  CHECK(racelab_attach() == 1);
  CHECK(racelab_point_id("no such point") == -1);
  CHECK(racelab_lock_id("no such lock") == -1);
  CHECK(racelab_point(-1) == -1);
  racelab_lock_wanted(-1);
  racelab_lock_taken(-1);
  return 0;
}

// Passes p and wants the lock, holds it twice, lets go of it once.
int locks() {
  const int lock = racelab_lock_id("l");
  racelab_actor("holder");
  racelab_lock_wanted(lock);
  racelab_lock_taken(lock);
  racelab_lock_taken(lock);
  racelab_lock_released(lock);
  _exit(0); // the process dies with it
}

int tokens_and_lost_facts() {
  racelab_actor("a");
  racelab_tokens(4096);
  racelab_fact_lost();
  return 0;
}

// errno as the program left it, whatever the agent's system calls said. The board's descriptor is closed.
int keeps_errno() {
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"attach", [] { racelab_attach(); }},         {"actor", [] { racelab_actor("a"); }},
      {"current", [] { racelab_current_actor(); }}, {"point", [] { pass("p"); }},
      {"tokens", [] { racelab_tokens(1); }},        {"wanted", [] { racelab_lock_wanted(0); }},
      {"end", [] { racelab_actor_end(); }},
  };
  for (const auto& [name, call] : calls) {
    errno = 12345;
    call();
    if (errno != 12345) {
      std::fprintf(stderr, "%s set errno to %d\n", name, errno);
      return 1;
    }
  }
  return 0;
}

// Ends like a Python program with a daemon thread: main returns while the thread waits for its turn.
int ends_beside_a_parked_thread() {
  racelab_actor("main");
  std::thread([] {
    racelab_actor("daemon");
    pass("p");
    for (;;)
      pass("q");
  }).detach();
  pass("q"); // listed after the daemon's start, see the test
  return 7;
}

// Four threads, each with its share of the steps that the test has put in order: see Stress in agent_test.cpp.
int team() {
  const int first = std::atoi(std::getenv("RACELAB_TEST_FIRST_ACTOR"));
  std::vector<std::thread> threads;
  for (int i = first; i < first + 4; ++i) {
    threads.emplace_back([i] {
      racelab_actor(("t" + std::to_string(i)).c_str());
      const int lock = racelab_lock_id("l");
      for (int n = 0; n < 50; ++n) {
        pass("p");
        racelab_lock_wanted(lock);
        racelab_lock_not_taken(lock);
        racelab_tokens(2);
        pass("q");
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  return 0;
}

} // namespace

int run_program(const std::string& name) {
  const std::map<std::string, int (*)()> programs{{"all_calls", all_calls},
                                                  {"three_passes", three_passes},
                                                  {"one_thread", one_thread},
                                                  {"named_by_the_system", named_by_the_system},
                                                  {"renamed", renamed},
                                                  {"forks", forks},
                                                  {"unknown_names", unknown_names},
                                                  {"locks", locks},
                                                  {"tokens_and_lost_facts", tokens_and_lost_facts},
                                                  {"keeps_errno", keeps_errno},
                                                  {"team", team},
                                                  {"ends_beside_a_parked_thread", ends_beside_a_parked_thread}};
  return programs.at(name)();
}

} // namespace racelab::agent_test

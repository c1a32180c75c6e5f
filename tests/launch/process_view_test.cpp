// What /proc tells about processes that do one thing each.
#include "launch/process_view.h"
#include "support.h"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

// A child process that does `what` and is killed afterwards.
class Doing {
public:
  explicit Doing(const std::function<void()>& what) : m_pid(fork()) {
    if (m_pid == 0) {
      what();
      _exit(0);
    }
  }
  ~Doing() {
    kill(m_pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;
  int pid() const { return m_pid; }

private:
  pid_t m_pid;
};

int new_pipe() {
  static int ends[2];
  return pipe(ends) == 0 ? ends[0] : -1;
}

struct Waiting {
  const char* call;
  bool timed;
  std::function<void()> what;
};

std::vector<Waiting> waits() {
  const auto read_set = [](int fd) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return set;
  };
  const auto poll_for = [](int ms) {
    pollfd fd{new_pipe(), POLLIN, 0};
    poll(&fd, 1, ms);
  };
  const auto epoll_for = [](int ms) {
    epoll_event event{};
    epoll_wait(epoll_create1(0), &event, 1, ms);
  };
  const auto select_for = [read_set](timeval* limit) {
    const int fd = new_pipe();
    fd_set set = read_set(fd);
    select(fd + 1, &set, nullptr, nullptr, limit);
  };
  return {
      {"read", false,
       [] {
         char c;
         static_cast<void>(!read(new_pipe(), &c, 1));
       }},
      {"poll", false, [=] { poll_for(-1); }},
      {"poll", true, [=] { poll_for(60'000); }},
      {"epoll_wait", false, [=] { epoll_for(-1); }},
      {"epoll_wait", true, [=] { epoll_for(60'000); }},
      {"pselect6", false, [=] { select_for(nullptr); }},
      {"pselect6", true,
       [=] {
         timeval limit{60, 0};
         select_for(&limit);
       }},
      {"pause", false, [] { pause(); }},
      {"clock_nanosleep", true, [] { sleep(60); }},
      {"futex", false,
       [] {
         std::mutex m;
         m.lock();
         m.lock();
       }},
      {"futex", true,
       [] {
         std::mutex m;
         std::condition_variable c;
         std::unique_lock lock(m);
         c.wait_for(lock, std::chrono::minutes(1));
       }},
      {"flock", false,
       [] {
         flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
         flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
       }},
      {"recvfrom", false,
       [] {
         int fds[2];
         char c;
         if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0)
           recv(fds[0], &c, 1, 0);
       }},
  };
}

TEST(ThreadAsleep, IsSeenInItsSystemCallWithOrWithoutATimeOut) {
  for (const Waiting& wait : waits()) {
    const Doing child(wait.what);
    TreeView view;
    EXPECT_TRUE(await([&] {
      view = view_tree(child.pid());
      return view.threads.size() == 1 && view.threads[0].waits_in == wait.call &&
             view.threads[0].timed_wait == wait.timed;
    })) << wait.call
        << (wait.timed ? " with a time-out" : "") << " is seen as "
        << (view.threads.empty() ? "nothing" : view.threads[0].waits_in);
    EXPECT_EQ(view.any_timed_wait(), wait.timed) << wait.call;
    EXPECT_FALSE(view.any_running()) << wait.call;
  }
}

TEST(ThreadThatWorks, IsRunningAndUsesTime) {
  const Doing child([] {
    for (volatile bool always = true; always;) {
    }
  });
  std::uint64_t ticks = 0;
  EXPECT_TRUE(await([&] {
    const TreeView view = view_tree(child.pid());
    ticks = view.cpu_ticks;
    return view.any_running() && ticks >= 3;
  }));
  EXPECT_TRUE(await([&] { return view_tree(child.pid()).cpu_ticks > ticks; }));
}

TEST(Tree, HasAllThreadsByNameAndAllDescendants) {
  const Doing child([] {
    std::thread([] {
      pthread_setname_np(pthread_self(), "drafter (0)"); // a name that stat's reader could trip over
      if (fork() == 0)
        pause();
      pause();
    }).detach();
    pause();
  });
  TreeView view;
  ASSERT_TRUE(await([&] {
    view = view_tree(child.pid());
    return view.pids.size() == 2 && view.threads.size() == 3 &&
           std::all_of(view.threads.begin(), view.threads.end(), [](const auto& t) { return t.waits_in == "pause"; });
  }));
  EXPECT_EQ(view.pids[0], child.pid());
  std::vector<std::string> names;
  for (const ThreadView& thread : view.threads)
    names.push_back(thread.name);
  EXPECT_THAT(names, testing::Contains("drafter (0)").Times(2)); // the thread, and the child that it forked
  kill(view.pids[1], SIGKILL);
}

TEST(Tree, OfAProcessThatIsGoneIsEmpty) {
  int pid = 0;
  {
    const Doing child([] {});
    pid = child.pid();
  }
  const TreeView view = view_tree(pid);
  EXPECT_TRUE(view.pids.empty());
  EXPECT_TRUE(view.threads.empty());
}

TEST(TreeView, HasTheDaemonsThatAReaperHasTakenIn) {
  const Doing program([] { pause(); }), daemon([] { pause(); });
  EXPECT_THAT(view_tree(program.pid()).pids, testing::ElementsAre(program.pid()));
  EXPECT_THAT(view_tree(program.pid(), getpid()).pids, testing::IsSupersetOf({program.pid(), daemon.pid()}));
}

} // namespace
} // namespace racelab::launch::test

#include "launch/stillness.h"
#include "support.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class StillnessOfAQuietProcess : public testing::Test {
protected:
  void SetUp() override {
    m_pid = fork();
    if (m_pid == 0) {
      pause();
      _exit(0);
    }
  }
  void TearDown() override {
    kill(m_pid, SIGKILL);
    waitpid(m_pid, nullptr, 0);
  }

  // Looks until the process is called still; the time that took.
  milliseconds time_until_still(Stillness& stillness) {
    const auto start = Clock::now();
    EXPECT_TRUE(await([&] { return stillness.look(m_pid, 0, 0).has_value(); }));
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  }

  pid_t m_pid = 0;
};

TEST_F(StillnessOfAQuietProcess, IsSeenAfterTheQuietTimeAndNotBefore) {
  Stillness stillness(milliseconds(150));
  EXPECT_GE(time_until_still(stillness), milliseconds(149));
  EXPECT_GE(stillness.still_for(), milliseconds(150));
}

TEST_F(StillnessOfAQuietProcess, BeginsAnewAfterARestart) {
  Stillness stillness(milliseconds(120));
  time_until_still(stillness);
  stillness.restart();
  EXPECT_GE(time_until_still(stillness), milliseconds(119));
}

TEST_F(StillnessOfAQuietProcess, IsNotSeenWhileEventsOrOutputCome) {
  for (const bool events : {true, false}) {
    Stillness stillness(milliseconds(60));
    std::uint64_t count = 0;
    const auto end = Clock::now() + milliseconds(400);
    while (Clock::now() < end) {
      ++count;
      ASSERT_FALSE(stillness.look(m_pid, events ? count : 0, events ? 0 : count));
    }
  }
}

TEST(StillnessOfABusyProcess, IsNotSeen) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (volatile bool always = true; always;) {
    }
  }
  Stillness stillness(milliseconds(60));
  const auto end = Clock::now() + milliseconds(400);
  while (Clock::now() < end)
    EXPECT_FALSE(stillness.look(pid, 0, 0));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(StillnessOfAProcessInUninterruptibleSleep, IsNotSeen) {
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    if (vfork() == 0) { // which is what waiting for the child of vfork() is
      pause();
      _exit(0);
    }
    _exit(0);
  }
  const auto in_that_sleep = [&] {
    const TreeView view = view_tree(pid);
    return view.threads.size() == 2 && view.threads[0].state == 'D' && view.threads[1].state == 'S';
  };
  EXPECT_TRUE(await(in_that_sleep));
  Stillness stillness(milliseconds(60));
  const auto end = Clock::now() + milliseconds(400);
  while (Clock::now() < end)
    EXPECT_FALSE(stillness.look(pid, 0, 0));
  kill(-pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

board::Plan two_steps() {
  board::Plan plan;
  plan.points = {{"p", board::PointKind::plain, false}};
  plan.locks = {"compile_lock"};
  plan.steps = {{"awaited", "p", 0}, {"held", "p", 0}};
  plan.edges = {{0, 1}};
  return plan;
}

TEST(DescriptionOfStillness, NamesTheThreadThatHasNotAppeared) {
  const board::Board board = board::Board::create(two_steps());
  EXPECT_EQ(describe_stillness({}, board.picture(), board),
            "no thread named 'awaited' has appeared, and everything else waits for awaited p");
}

TEST(DescriptionOfStillness, NamesTheSystemCallOfTheAwaitedThread) {
  board::Board board = board::Board::create(two_steps());
  board.enter_actor("awaited", 1, 77, 0);
  TreeView view;
  view.threads.push_back({1, 76, "other", 'S', false, "read"});
  EXPECT_EQ(describe_stillness(view, board.picture(), board), "awaited p is awaited, but awaited does nothing");
  view.threads.push_back({1, 77, "awaited", 'S', false, "futex"});
  EXPECT_EQ(describe_stillness(view, board.picture(), board), "awaited p is awaited, but awaited is asleep in futex()");
}

TEST(DescriptionOfStillness, NamesTheKnownLockThatTheAwaitedThreadWants) {
  board::Board board = board::Board::create(two_steps());
  const int holder = board.enter_actor("z", 1, 1, 0), awaited = board.enter_actor("awaited", 1, 77, 0);
  board.lock_taken(holder, 0);
  board.lock_wanted(awaited, 0);
  EXPECT_EQ(describe_stillness({}, board.picture(), board), "awaited p is awaited, but awaited waits for compile_lock");
}

TEST(DescriptionOfStillness, SaysLittleWhereNoStepIsOpen) {
  const board::Board board = board::Board::create({});
  EXPECT_EQ(describe_stillness({}, board.picture(), board), "nothing moves");
}

} // namespace
} // namespace racelab::launch::test

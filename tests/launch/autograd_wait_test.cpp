// Deadlocks through torch's autograd engine, told from the board and the Python stacks.
#include "launch/autograd_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::launch::test {
namespace {

using board::ActorState;
using testing::HasSubstr;

// drafter0 holds compile_lock, which a thread of the engine wants; drafter1 is in its backward.
board::Board::Picture shared_gpu() {
  board::Board::Picture picture;
  picture.actors = {{"drafter0", ActorState::running, 1, 11, 0xa0, -1, -1, -1, 0},
                    {"drafter1", ActorState::running, 1, 12, 0xa1, -1, -1, -1, 0},
                    {"pt_autograd_0", ActorState::wanting, 1, 13, 0xa2, -1, -1, 0, 0}};
  picture.locks = {{"compile_lock", 0}};
  return picture;
}

std::string stack(int ident, const std::string& innermost) {
  char head[64];
  std::snprintf(head, sizeof head, "Thread 0x%016x (most recent call first):\n", ident);
  return head + ("  File \"x.py\", line 1 in " + innermost) + "\n  File \"y.py\", line 2 in run\n\n";
}

TEST(EngineWait, IsADeadlockWhereTheHolderOfTheLockIsInTheEngine) {
  const auto why =
      explain_engine_wait(shared_gpu(), stack(0xa2, "compile_fx_backward") + stack(0xa0, "_engine_run_backward") +
                                            stack(0xa1, "_engine_run_backward"));
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("pt_autograd_0 waits for compile_lock, held by drafter0"));
  EXPECT_THAT(*why, HasSubstr("drafter0 waits for the autograd engine"));
}

TEST(EngineWait, IsNoDeadlockWhereTheHolderDoesSomethingElse) {
  EXPECT_FALSE(explain_engine_wait(shared_gpu(), stack(0xa0, "sleep") + stack(0xa1, "_engine_run_backward")));
  EXPECT_FALSE(explain_engine_wait(shared_gpu(), stack(0xa0, "run_in_engine_run_backward_hook")));
  EXPECT_FALSE(explain_engine_wait(shared_gpu(), ""));
}

TEST(EngineWait, LooksAtTheNewestDump) {
  EXPECT_FALSE(explain_engine_wait(shared_gpu(), stack(0xa0, "_engine_run_backward") + stack(0xa0, "sleep")));
}

TEST(EngineWait, NeedsAThreadOfTheEngineThatWantsALockOfSomebodyElse) {
  auto picture = shared_gpu();
  EXPECT_TRUE(engine_wants_lock(picture));
  picture.actors[2].state = ActorState::running;
  EXPECT_FALSE(engine_wants_lock(picture));
  picture = shared_gpu();
  picture.actors[2].name = "drafter2";
  EXPECT_FALSE(engine_wants_lock(picture));
  picture = shared_gpu();
  picture.locks[0].holder = -1;
  EXPECT_FALSE(engine_wants_lock(picture));
}

} // namespace
} // namespace racelab::launch::test

// Whatever a pipeline leaves behind is killed and counted, and a dead racelab leaves nothing behind.
#include "support.h"

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

TEST(ChildrenLeftBehind, AreKilledAndCounted) {
  const Folder folder;
  const TrialEnd end = run(shell(folder, "sleep 1000 & echo $! > one; sleep 1000 & echo $! > two; exit 5"));
  EXPECT_EQ(end.exit_code, 5);
  EXPECT_EQ(end.left_over, 2);
  EXPECT_TRUE(is_gone(number_in(folder / "one")));
  EXPECT_TRUE(is_gone(number_in(folder / "two")));
}

TEST(DaemonsLeftBehind, AreKilledAndCounted) {
  // In a session of their own, and children of nobody by the time the program ends.
  const Folder folder;
  const TrialEnd end = run(shell(folder, "(setsid sh -c 'echo $$ > one; sleep 1000 & echo $! > two; wait' &)\n"
                                         "until [ -s two ]; do :; done"));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.left_over, 2);
  EXPECT_TRUE(is_gone(number_in(folder / "one")));
  EXPECT_TRUE(is_gone(number_in(folder / "two")));
}

TEST(DaemonsLeftBehind, AreKilledAlsoWhenTheyIgnoreSignals) {
  const Folder folder;
  const TrialEnd end =
      run(shell(folder, "(trap '' HUP TERM INT; echo x; setsid sh -c 'echo $$ > one; exec sleep 1000' &)\n"
                        "until [ -s one ]; do :; done; kill -ABRT $$"));
  EXPECT_EQ(end.kind, EndKind::signalled);
  EXPECT_EQ(end.left_over, 1);
  EXPECT_TRUE(is_gone(number_in(folder / "one")));
}

TEST(DaemonsThatHaveEndedThemselves, AreNotCounted) {
  const Folder folder;
  const TrialEnd end = run(shell(folder, "(sh -c 'echo $$ > one' &)\n"
                                         "until [ -s one ]; do :; done\n"
                                         "until grep -q 'State:.Z' /proc/$(cat one)/status; do :; done"));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.left_over, 0);
  EXPECT_TRUE(is_gone(number_in(folder / "one")));
}

TEST(TrialThatIsKilled, TakesItsChildrenAndDaemonsWithIt) {
  const Folder folder;
  TrialSpec spec = shell(folder, "sleep 1000 & echo $! > one; (setsid sh -c 'echo $$ > two; exec sleep 1000' &)\n"
                                 "until [ -s two ]; do :; done; while :; do :; done");
  spec.time_limit = std::chrono::seconds(1);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::time_limit);
  EXPECT_GE(end.left_over, 1); // what is in the program's own process group dies with it
  EXPECT_TRUE(is_gone(number_in(folder / "one")));
  EXPECT_TRUE(is_gone(number_in(folder / "two")));
}

TEST(RacelabThatIsKilled, LeavesNoTrialBehind) {
  const Folder folder;
  const pid_t racelab = fork();
  if (racelab == 0) {
    run(shell(folder, "echo $$ > main; (setsid sh -c 'echo $$ > daemon; exec sleep 1000' &)\nsleep 1000"));
    _exit(0);
  }
  ASSERT_TRUE(await([&] { return number_in(folder / "main") > 0 && number_in(folder / "daemon") > 0; }));
  kill(racelab, SIGKILL);
  waitpid(racelab, nullptr, 0);
  EXPECT_TRUE(await([&] { return is_gone(number_in(folder / "main")); }));
  EXPECT_TRUE(await([&] { return is_gone(number_in(folder / "daemon")); }));
}

} // namespace
} // namespace racelab::launch::test

// Hang, deadlock, stalled schedule, time limit, Ctrl-C.
#include "launch/channel.h"
#include "launch/interrupt.h"
#include "support.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;

board::Plan plan(std::vector<board::PlannedStep> steps) {
  board::Plan made;
  made.points = {{"p", board::PointKind::plain, false}};
  made.locks = {"l", "m"};
  for (std::size_t i = 1; i < steps.size(); ++i)
    made.edges.emplace_back(static_cast<int>(i) - 1, static_cast<int>(i));
  made.steps = std::move(steps);
  return made;
}

bool all_ended(const board::Board& board) {
  const auto actors = board.picture().actors;
  return std::all_of(actors.begin(), actors.end(), [](const auto& a) {
    return a.state == board::ActorState::ended || a.state == board::ActorState::expected;
  });
}

TEST(TimeLimit, EndsAProgramThatRunsOn) {
  const Folder folder;
  TrialSpec spec = shell(folder, "while :; do :; done");
  spec.time_limit = milliseconds(300);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::time_limit);
  EXPECT_GE(end.wall_s, 0.3);
  EXPECT_LT(end.wall_s, 10);
}

TEST(TimeLimit, EndsAProgramThatPrintsWithoutEnd) {
  const Folder folder;
  TrialSpec spec = shell(folder, "yes");
  spec.time_limit = milliseconds(300);
  spec.output_limit = 1000;
  EXPECT_EQ(run(spec).kind, EndKind::time_limit);
  EXPECT_LT(contents(spec.stdout_file).size(), 1100U);
}

TEST(TimeLimit, AsksTheActorsForTheirStacksFirst) {
  const Folder folder;
  TrialSpec spec = program(folder, "writes_stacks");
  spec.environment.emplace_back("STACKS", spec.stacks_file);
  spec.time_limit = milliseconds(500);
  EXPECT_EQ(run(spec).kind, EndKind::time_limit);
  EXPECT_EQ(contents(spec.stacks_file), "the stacks\n");
}

TEST(Hang, IsSeenWhereAProgramReadsFromAPipeThatNobodyWritesTo) {
  const Folder folder;
  TrialSpec spec = shell(folder, "mkfifo f; exec 3<>f; read x <&3");
  spec.hang_time = milliseconds(200);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::hang);
  EXPECT_THAT(end.message, HasSubstr("no thread did anything for"));
  EXPECT_GE(end.wall_s, 0.2);
  EXPECT_LT(end.wall_s, 3); // a wait that has no end needs no patience
}

TEST(Hang, IsSeenThroughAParentThatWaitsForItsChild) {
  const Folder folder;
  TrialSpec spec = shell(folder, "mkfifo f; exec 3<>f; cat <&3; true");
  spec.hang_time = milliseconds(200);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::hang);
  EXPECT_LT(end.wall_s, 3);
}

TEST(Hang, IsSeenWhereAFileLockIsNeverReleased) {
  const Folder folder;
  TrialSpec spec = shell(folder, "exec 8>lock; flock 8; exec 9>lock; flock 9");
  spec.hang_time = milliseconds(200);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::hang);
  EXPECT_LT(end.wall_s, 3);
}

TEST(Hang, IsNotCalledWhileAProgramOnlySleepsForAWhile) {
  const Folder folder;
  TrialSpec spec = shell(folder, "sleep 1.5; exit 4");
  spec.hang_time = milliseconds(100);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::exited);
  EXPECT_EQ(end.exit_code, 4);
}

TEST(Hang, IsNotCalledBeforeASleepHasLastedTenTimesAsLong) {
  const Folder folder;
  TrialSpec spec = shell(folder, "sleep 3.4; exit 4"); // longer than the least that a sleep is given
  spec.hang_time = milliseconds(400);
  EXPECT_EQ(run(spec).exit_code, 4);
}

TEST(Hang, IsCalledInTheEndAlsoForASleepThatIsTooLong) {
  const Folder folder;
  TrialSpec spec = shell(folder, "sleep 1000");
  spec.hang_time = milliseconds(100);
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::hang);
  EXPECT_GE(end.wall_s, 3);
}

TEST(Hang, IsNotCalledWhileAProgramWorks) {
  const Folder folder;
  TrialSpec spec =
      shell(folder, "end=$(($(date +%s%N) + 600000000)); while [ $(date +%s%N) -lt $end ]; do :; done; exit 4");
  spec.quiet_time = milliseconds(50);
  spec.hang_time = milliseconds(50);
  EXPECT_EQ(run(spec).exit_code, 4);
}

TEST(ScheduleThatWaitsForAThreadThatNeverAppears, IsGivenUpAndTheTrialEndsNormally) {
  const Folder folder;
  board::Board board = board::Board::create(plan({{"ghost", "p", 0}, {"held", "p", 0}}));
  const TrialEnd end = run(program(folder, "held"), board);
  EXPECT_EQ(end.kind, EndKind::exited);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.stalled_because, "no thread named 'ghost' has appeared, and everything else waits for ghost p");
  EXPECT_EQ(board.picture().state, board::ScheduleState::stalled);
}

TEST(ScheduleThatWaitsForASleepingThread, SaysWhereThatSleeps) {
  const Folder folder;
  board::Board board = board::Board::create(plan({{"awaited", "p", 0}, {"held", "p", 0}}));
  const TrialEnd end = run(program(folder, "held_beside_a_sleeper"), board);
  EXPECT_EQ(end.kind, EndKind::exited);
  EXPECT_EQ(end.stalled_because, "awaited p is awaited, but awaited is asleep in read()");
}

TEST(Deadlock, OfKnownLocksEndsTheTrial) {
  const Folder folder;
  board::Board board = board::Board::create(plan({}));
  const TrialEnd end = run(program(folder, "deadlock"), board);
  EXPECT_EQ(end.kind, EndKind::deadlock);
  EXPECT_LT(end.wall_s, 10);
  EXPECT_EQ(board.picture().chain.size(), 2U);
  EXPECT_TRUE(all_ended(board));
}

TEST(Deadlock, ThatTimeOutsHaveDissolvedIsNone) {
  const Folder folder;
  board::Board board = board::Board::create(plan({}));
  TrialSpec spec = program(folder, "deadlock_that_was_dissolved");
  spec.hang_time = milliseconds(200);
  EXPECT_EQ(run(spec, board).kind, EndKind::hang);
  EXPECT_EQ(board.picture().chain.size(), 2U); // still there
}

TEST(Actors, OfAProgramThatCrashedHaveEnded) {
  const Folder folder;
  board::Board board = board::Board::create(plan({{"doomed", "p", 0}}));
  const TrialEnd end = run(program(folder, "crashes_as_an_actor"), board);
  EXPECT_EQ(end.kind, EndKind::signalled);
  EXPECT_TRUE(all_ended(board));
  EXPECT_EQ(board.picture().state, board::ScheduleState::unreachable);
}

// Tells of its process only when that should long have ended.
class LateStarter : public ProcessStarter {
public:
  int start(const TrialSpec& spec, const board::Board&, int, int) override {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
      return -1;
    m_channel = fds[0];
    m_pid = fork();
    if (m_pid == 0) {
      pause();
      _exit(0);
    }
    m_reporter = std::thread([this, theirs = fds[1], late = 3 * spec.time_limit] {
      std::this_thread::sleep_for(late);
      send_message(theirs, {{"pid", m_pid}});
      int status = 0;
      waitpid(m_pid, &status, 0);
      send_message(theirs, {{"exit", status}});
      close(theirs);
    });
    return m_channel;
  }
  void finish() override {
    kill(m_pid, SIGKILL);
    m_reporter.join();
    close(m_channel);
  }

private:
  int m_channel = -1;
  pid_t m_pid = 0;
  std::thread m_reporter;
};

TEST(TimeLimit, EndsAProcessThatIsReportedOnlyAfterwards) {
  const Folder folder;
  TrialSpec spec = shell(folder, "");
  spec.time_limit = milliseconds(100);
  LateStarter starter;
  board::Board board = board::Board::create({});
  const TrialEnd end = run_trial(starter, spec, board);
  EXPECT_EQ(end.kind, EndKind::time_limit);
  EXPECT_LT(end.wall_s, 5); // not the grace that a process gets that cannot be killed
}

// Interrupts are counted for the whole process, so that these run in one of their own.
void exit_interrupted(const TrialEnd& end, bool gone) {
  std::fprintf(stderr, "kind %d after %s, program %s\n", static_cast<int>(end.kind),
               end.wall_s < 5 ? "a moment" : "long", gone ? "gone" : "alive");
  std::exit(0);
}

const std::string k_interrupted_soon =
    "kind " + std::to_string(static_cast<int>(EndKind::interrupted)) + " after a moment, program gone";

TEST(InterruptDeathTest, EndsARunningTrial) {
  EXPECT_EXIT(
      {
        const Folder folder;
        std::thread user([&] {
          await([&] { return number_in(folder / "pid") > 0; });
          request_interrupt();
        });
        const TrialEnd end = run(shell(folder, "echo $$ > pid; while :; do :; done"));
        user.join();
        exit_interrupted(end, is_gone(number_in(folder / "pid")));
      },
      testing::ExitedWithCode(0), k_interrupted_soon);
}

TEST(InterruptDeathTest, EndsATrialThatHasHardlyBegun) {
  EXPECT_EXIT(
      {
        const Folder folder;
        request_interrupt();
        exit_interrupted(run(shell(folder, "while :; do :; done")), true);
      },
      testing::ExitedWithCode(0), k_interrupted_soon);
}

} // namespace
} // namespace racelab::launch::test

// The agent as a native program meets it: each case runs a program of programs.cpp under a board, and looks at that
// board.
#include "base/subprocess.h"
#include "board/board.h"

#include "../support/folder.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::agent_test {
namespace {

using base::Captured;
using board::ActorState;
using board::Board;
using board::LogKind;
using testing::ElementsAre;
using testing::HasSubstr;

board::Plan plan(std::vector<board::PlannedStep> steps = {}) {
  board::Plan made;
  made.points = {{"p", board::PointKind::plain, false}, {"q", board::PointKind::plain, false}};
  made.locks = {"l"};
  for (std::size_t i = 1; i < steps.size(); ++i)
    made.edges.emplace_back(static_cast<int>(i) - 1, static_cast<int>(i));
  made.steps = std::move(steps);
  return made;
}

std::string inode(const Board& board) {
  struct stat info {};
  fstat(board.fd(), &info);
  return std::to_string(info.st_ino);
}

std::string path(const Board& board) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(board.fd());
}

// What the harness sets: an inherited descriptor, and a path for processes that do not have it any more.
std::string spec(const Board& board) {
  return std::to_string(board.fd()) + ":" + inode(board) + ":" + path(board);
}
// A process whose parent has closed the descriptor.
std::string spec_without_descriptor(const Board& board) {
  return "987:" + inode(board) + ":" + path(board);
}

Captured run(const std::string& program, const base::Environment& environment) {
  auto ended = base::run_and_capture({"/proc/self/exe", "--program", program}, environment, std::chrono::seconds(30));
  EXPECT_TRUE(ended) << ended.error();
  return ended.value_or(Captured{-1, "", ""});
}

Captured run_under(const std::string& board_spec, const std::string& program) {
  return run(program, {{"RACELAB_BOARD", board_spec}});
}

std::vector<std::string> actors(const Board& board) {
  std::vector<std::string> texts;
  for (const auto& actor : board.picture().actors)
    texts.push_back(actor.name + (actor.state == ActorState::ended ? " ended" : ""));
  return texts;
}

// "worker pass p", "worker end".
std::vector<std::string> log(const Board& board) {
  const auto picture = board.picture();
  std::vector<std::string> texts;
  for (const auto& entry : board.log_from(0)) {
    const std::string actor = entry.actor < 0 ? "" : picture.actors[static_cast<std::size_t>(entry.actor)].name;
    if (entry.kind == LogKind::pass)
      texts.push_back(actor + " pass " + board.point_name(entry.point));
    else if (entry.kind == LogKind::actor_start)
      texts.push_back(actor + " start");
    else if (entry.kind == LogKind::actor_end)
      texts.push_back(actor + " end");
    else if (entry.kind == LogKind::tokens)
      texts.push_back(actor + " tokens " + std::to_string(entry.value));
  }
  return texts;
}

constexpr const char* k_nothing_happens = "attach 0\nactor -1\ncurrent -1\npoint_id -1\nlock_id -1\npoint -1\nerror \n";

TEST(WithoutABoard, EveryCallIsHarmless) {
  const Captured ended = run("all_calls", {});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, k_nothing_happens);
  EXPECT_EQ(ended.err, "");
}

TEST(WithoutABoard, AnEmptyVariableIsNone) {
  EXPECT_EQ(run_under("", "all_calls").out, k_nothing_happens);
}

TEST(WithABoard, EveryCallSaysWhatItDid) {
  Board board = Board::create(plan());
  EXPECT_EQ(run_under(spec(board), "all_calls").out,
            "attach 1\nactor 0\ncurrent 0\npoint_id 0\nlock_id 0\npoint 1\nerror \n");
  EXPECT_EQ(board.picture().attached, 1U);
}

TEST(WithABoard, ItIsFoundByItsPathWhereTheDescriptorIsClosed) {
  Board board = Board::create(plan());
  EXPECT_THAT(run_under(spec_without_descriptor(board), "all_calls").out, HasSubstr("attach 1\n"));
  EXPECT_EQ(board.picture().attached, 1U);
}

TEST(WithABoard, ItIsFoundByItsPathWhereTheDescriptorIsSomethingElse) {
  Board board = Board::create(plan());
  EXPECT_THAT(run_under("2:" + inode(board) + ":" + path(board), "all_calls").out, HasSubstr("attach 1\n"));
}

TEST(BoardThatCannotBeMapped, IsReportedAndEveryCallIsHarmless) {
  Board board = Board::create(plan());
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense", "RACELAB_BOARD is malformed: nonsense"},
      {"3", "malformed"},
      {"3:5", "malformed"},
      {":5:/x", "malformed"},
      {"987:" + inode(board) + ":/no/such/board", "cannot open the trial's board /no/such/board: No such file"},
      {"987:" + inode(board) + ":", "cannot open the trial's board"},
      {"987:1:/dev/null", "not a board"},
  };
  for (const auto& [value, message] : cases) {
    const Captured ended = run_under(value, "all_calls");
    EXPECT_EQ(ended.exit_code, 0) << value;
    EXPECT_THAT(ended.out, HasSubstr("attach -1\nactor -1\ncurrent -1\npoint_id -1\nlock_id -1\npoint -1\n")) << value;
    EXPECT_THAT(ended.out, HasSubstr(message)) << value;
  }
  EXPECT_EQ(board.picture().attached, 0U);
}

TEST(NamesThatTheTrialDoesNotUse, AreMinusOneAndCostNothing) {
  Board board = Board::create(plan());
  const Captured ended = run_under(spec(board), "unknown_names");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(actors(board), ElementsAre());
}

TEST(ActorOfAThread, EndsWithTheThread) {
  Board board = Board::create(plan());
  EXPECT_EQ(run_under(spec(board), "one_thread").exit_code, 0);
  EXPECT_THAT(log(board),
              ElementsAre("main start", "worker start", "worker pass p", "worker end", "main pass q", "main end"));
}

TEST(ActorOfAThread, IsNamedAfterTheSystemsThreadNameIfItHasNone) {
  Board board = Board::create(plan({{"drafter0", "p", 0}}));
  EXPECT_EQ(run_under(spec(board), "named_by_the_system").exit_code, 0);
  EXPECT_THAT(actors(board), ElementsAre("drafter0 ended"));
  EXPECT_EQ(board.picture().state, board::ScheduleState::complete);
}

TEST(ActorOfAThread, EndsWhenTheThreadTakesAnotherName) {
  Board board = Board::create(plan());
  const Captured ended = run_under(spec(board), "renamed");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(log(board), ElementsAre("one start", "one pass p", "one end", "two start", "two pass p", "two end"));
}

TEST(ForkedChild, IsANewActorAndLeavesItsParentsAlone) {
  for (const bool inherited : {true, false}) {
    Board board = Board::create(plan());
    const Captured ended = run_under(inherited ? spec(board) : spec_without_descriptor(board), "forks");
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_EQ(board.picture().attached, 2U);
    const auto all = log(board);
    EXPECT_THAT(all, testing::IsSupersetOf({"parent pass p", "child start", "child pass p", "child end"}));
    EXPECT_THAT(std::vector<std::string>(all.end() - 2, all.end()), ElementsAre("parent pass p", "parent end"));
    std::set<int> pids;
    for (const auto& actor : board.picture().actors)
      pids.insert(actor.pid);
    EXPECT_EQ(pids.size(), 2U);
  }
}

TEST(Locks, AreHeldUntilTheirLastReleaseAndFreedWithTheDeadProcess) {
  Board board = Board::create(plan());
  EXPECT_EQ(run_under(spec(board), "locks").exit_code, 0);
  const auto picture = board.picture();
  ASSERT_EQ(picture.actors.size(), 1U);
  EXPECT_EQ(picture.locks[0].holder, 0);
  board.end_process(picture.actors[0].pid);
  EXPECT_EQ(board.picture().locks[0].holder, -1);
}

TEST(TokensAndLostFacts, AreOnTheBoard) {
  Board board = Board::create(plan());
  EXPECT_EQ(run_under(spec(board), "tokens_and_lost_facts").exit_code, 0);
  EXPECT_THAT(log(board), testing::Contains("a tokens 4096"));
  EXPECT_EQ(board.picture().facts_lost, 1U);
}

TEST(Calls, LeaveErrnoAlone) {
  Board board = Board::create(plan());
  const Captured ended = run_under(spec_without_descriptor(board), "keeps_errno");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(ProgramThatEndsBesideAParkedThread, EndsWithItsOwnStatus) {
  for (int i = 0; i < 20; ++i) {
    // The daemon has passed p before main ends; afterwards it waits for an event of main's that never comes.
    Board board = Board::create(plan({{"daemon", "p", 0}, {"main", "q", 0}, {"main", "p", 0}, {"daemon", "q", 0}}));
    const Captured ended = run_under(spec(board), "ends_beside_a_parked_thread");
    ASSERT_EQ(ended.exit_code, 7) << "run " << i << ": " << ended.err;
    EXPECT_EQ(board.picture().state, board::ScheduleState::unreachable);
  }
}

TEST(Stress, EightThreadsOfTwoProcessesKeepASeededOrder) {
  constexpr int k_actors = 8, k_each = 50;
  std::vector<int> order;
  for (int i = 0; i < k_actors * k_each; ++i)
    order.push_back(i % k_actors);
  std::shuffle(order.begin(), order.end(), std::mt19937(20261129));
  std::vector<board::PlannedStep> steps;
  std::vector<std::string> wanted;
  for (const int actor : order) {
    steps.push_back({"t" + std::to_string(actor), "p", 0});
    wanted.push_back(steps.back().actor + " pass p");
  }
  Board board = Board::create(plan(std::move(steps)));
  Captured other;
  std::thread starter([&] {
    other = run("team", {{"RACELAB_BOARD", spec(board)}, {"RACELAB_TEST_FIRST_ACTOR", "4"}});
  });
  const Captured one = run("team", {{"RACELAB_BOARD", spec(board)}, {"RACELAB_TEST_FIRST_ACTOR", "0"}});
  starter.join();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(other.exit_code, 0) << other.err;

  const auto picture = board.picture();
  EXPECT_EQ(picture.state, board::ScheduleState::complete);
  EXPECT_EQ(picture.attached, 2U);
  EXPECT_EQ(picture.log_lost, 0U);
  EXPECT_EQ(actors(board).size(), static_cast<std::size_t>(k_actors));
  auto lines = log(board);
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.ends_with(" tokens 2"); }),
            k_actors * k_each);
  std::erase_if(lines, [](const std::string& line) { return !line.ends_with(" pass p"); });
  EXPECT_EQ(lines, wanted);
}

TEST(EventThatKills, IsTheLastOfItsProcess) {
  Board board = Board::create(plan({{"a", "p", 2, true}}));
  EXPECT_EQ(run_under(spec(board), "three_passes").exit_code, 128 + SIGKILL);
  EXPECT_THAT(log(board), ElementsAre("a start", "a pass p", "a pass p", "a end"));
}

TEST(EventAtWhichCachesVanish, IsPassedBeforeTheActorGoesOn) {
  const racelab::test::Folder folder;
  for (const char* file : {"inductor/aa", "triton"})
    std::filesystem::create_directories(folder / file);
  board::Plan planned = plan();
  planned.removal = {"", "p", 2};
  Board board = Board::create(planned);
  run("three_passes", {{"RACELAB_BOARD", spec(board)}, {"RACELAB_CACHES", folder.path()}});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  const auto entries = board.log_from(0);
  ASSERT_EQ(entries.size(), 6U); // start, p, p, removed, q, end
  EXPECT_EQ(entries[3].kind, LogKind::removed);
  EXPECT_EQ(entries[3].value, 3);
}

TEST(CopyOfAPipeline, NamesItsActorsByItsNumber) {
  Board board = Board::create(plan());
  run("three_passes", {{"RACELAB_BOARD", spec(board)}, {"RACELAB_COPY", "2"}});
  EXPECT_THAT(actors(board), ElementsAre("a@2 ended"));
}

} // namespace
} // namespace racelab::agent_test

// A board's numbers become names.
#include "run/read_record.h"

#include "support.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::run::test {
namespace {

using board::Board;
using result::EventKind;
using testing::ElementsAre;

board::Plan plan() {
  board::Plan made;
  made.points = {{"p.enter", board::PointKind::enter, false}, {"p.exit", board::PointKind::exit, false}};
  made.locks = {"l"};
  made.steps = {{"a", "p.enter", 0}, {"b", "p.enter", 2}, {"ghost", "p.exit", 0}};
  made.edges = {{0, 1}, {1, 2}};
  return made;
}

class Records : public testing::Test {
protected:
  result::TrialRecord read(const launch::TrialEnd& end = {}) {
    return read_record(3, board, end, folder / "facts.jsonl", folder / "stacks.txt");
  }
  Folder folder;
  Board board = Board::create(plan());
  int a = board.enter_actor("a", 1, 2, 3), b = board.enter_actor("b", 1, 4, 5);
};

TEST_F(Records, NameEventsActorsAndSteps) {
  board.pass(a, 0);
  board.log_tokens(a, 64);
  board.end_actor(a);
  const auto record = read();
  EXPECT_EQ(record.index, 3);
  ASSERT_EQ(record.events.size(), 5U);
  EXPECT_EQ(record.events[2].kind, EventKind::pass);
  EXPECT_EQ(record.events[2].actor, "a");
  EXPECT_EQ(record.events[2].point, "p.enter");
  EXPECT_EQ(record.events[2].hit, 1U);
  EXPECT_EQ(record.events[2].step, 0);
  EXPECT_EQ(record.events[3].kind, EventKind::tokens);
  EXPECT_EQ(record.events[3].tokens, 64);
  EXPECT_EQ(record.events[4].kind, EventKind::actor_end);
  ASSERT_EQ(record.steps.size(), 3U);
  EXPECT_EQ(record.steps[1].event, "b p.enter#2");
  EXPECT_TRUE(record.steps[0].done);
  EXPECT_EQ(record.steps[0].times_hit, 1U);
  EXPECT_FALSE(record.steps[1].done);
  ASSERT_EQ(record.actors.size(), 3U);
  EXPECT_TRUE(record.actors[0].ended);
  EXPECT_TRUE(record.actors[1].appeared);
  EXPECT_FALSE(record.actors[2].appeared);
  EXPECT_EQ(record.board, result::BoardState::open);
}

TEST_F(Records, CountTimeFromTheStart) {
  board.pass(a, 0);
  launch::TrialEnd end;
  end.start_ns = board.log_from(0)[0].time - 1000;
  EXPECT_EQ(read(end).events[0].time_ns, 1000);
}

TEST_F(Records, NameTheCycleThatMadeAScheduleImpossible) {
  board.pass(a, 0);
  board.pass(b, 0); // the first pass is free; the second is asked for
  const int ghost = board.enter_actor("ghost", 1, 6, 7);
  board.lock_taken(ghost, 0);
  board.lock_wanted(b, 0);
  board.pass(ghost, 1); // b comes first and wants the lock: given up in this call
  const auto record = read();
  EXPECT_EQ(record.board, result::BoardState::impossible);
  ASSERT_EQ(record.cycle.size(), 2U);
  EXPECT_EQ(record.cycle[0].actor, "ghost");
  EXPECT_EQ(record.cycle[0].other, "b");
  EXPECT_EQ(record.cycle[0].kind, result::WaitKind::for_event);
  EXPECT_EQ(record.cycle[0].parked_at, "p.exit");
  EXPECT_EQ(record.cycle[0].awaited_event, "b p.enter#2");
  EXPECT_EQ(record.cycle[1].kind, result::WaitKind::for_lock);
  EXPECT_EQ(record.cycle[1].lock, "l");
  EXPECT_EQ(record.cycle[1].parked_at, "");
}

TEST_F(Records, SayWhatTheWatcherSawWhereNothingMoved) {
  board.give_up(board::ScheduleState::stalled);
  launch::TrialEnd end;
  end.stalled_because = "nothing moves";
  EXPECT_EQ(read(end).board, result::BoardState::stalled);
  EXPECT_EQ(read(end).stalled_because, "nothing moves");
}

TEST_F(Records, HaveFactsWithNamesAndTimesAndWithoutBrokenLines) {
  put(folder / "facts.jsonl", "{\"fact\": \"thread_died\", \"actor\": 1, \"time\": 5000}\n"
                              "\n"
                              "[]\n"
                              "{\"fact\": \"named\", \"actor\": \"x\"}\n"
                              "{\"fact\": \"beyond\", \"actor\": 99}\n"
                              "{\"fact\": \"half a li");
  launch::TrialEnd end;
  end.start_ns = 2000;
  const auto record = read(end);
  ASSERT_EQ(record.facts.size(), 3U);
  EXPECT_EQ(record.facts[0]["actor"], "b");
  EXPECT_EQ(record.facts[0]["time"], 3000);
  EXPECT_EQ(record.facts[1]["actor"], "x");
  EXPECT_EQ(record.facts[2]["actor"], "");
}

TEST_F(Records, HaveNoFactsWhereNoAgentWroteAny) {
  EXPECT_TRUE(read().facts.empty());
}

TEST_F(Records, CarryTheEndOfTheProcessAndBoundedStacks) {
  put(folder / "stacks.txt", std::string(1'000'000, 's'));
  launch::TrialEnd end;
  end.kind = launch::EndKind::signalled;
  end.signal = 11;
  end.left_over = 2;
  end.wall_s = 1.5;
  end.stderr_tail = "the end";
  const auto record = read(end);
  EXPECT_EQ(record.end.kind, result::EndKind::signalled);
  EXPECT_EQ(record.end.signal, 11);
  EXPECT_EQ(record.end.left_over, 2);
  EXPECT_EQ(record.wall_s, 1.5);
  EXPECT_EQ(record.stderr_tail, "the end");
  EXPECT_EQ(record.stacks.size(), 64U * 1024);
}

TEST_F(Records, AreWrittenOneEventALine) {
  board.pass(a, 0);
  const auto record = read();
  const std::string text = events_text(record);
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), record.events.size());
  std::vector<std::string> actors;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    actors.push_back(nlohmann::json::parse(line).at("actor"));
  EXPECT_THAT(actors, ElementsAre("a", "b", "a"));
}

} // namespace
} // namespace racelab::run::test

// Names of actors, the room for them, and the room for events.
#include "support.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

std::string name_of(const Board& board, int actor) {
  return board.picture().actors[static_cast<std::size_t>(actor)].name;
}

TEST(ActorName, IsMadeUnique) {
  Board board = Board::create({});
  const int first = enter(board, "worker"), second = enter(board, "worker"), third = enter(board, "worker");
  EXPECT_EQ(name_of(board, first), "worker");
  EXPECT_EQ(name_of(board, second), "worker@2");
  EXPECT_EQ(name_of(board, third), "worker@3");
}

TEST(ActorName, OfAnActorThatHasEndedIsNotGivenAgain) {
  Board board = Board::create({});
  board.end_actor(enter(board, "worker"));
  EXPECT_EQ(name_of(board, enter(board, "worker")), "worker@2");
}

TEST(ExpectedActor, TakesItsPlannedSlot) {
  Board board = Board::create(in_order({"b p", "a p"}));
  EXPECT_EQ(board.picture().actors[1].state, ActorState::expected);
  EXPECT_EQ(enter(board, "a"), 1);
  EXPECT_EQ(enter(board, "z"), 2);
  EXPECT_EQ(enter(board, "b"), 0);
  EXPECT_EQ(board.picture().actors[1].state, ActorState::running);
}

TEST(ExpectedActor, OfAnOrdinalNameIsTheSecondThreadOfThatName) {
  Board board = Board::create(in_order({"worker@2 p"}));
  EXPECT_EQ(enter(board, "worker"), 1);
  EXPECT_EQ(enter(board, "worker"), 0);
}

TEST(ExpectedActor, MayHaveANameAsLongAsThePlanAllows) {
  const std::string longest(k_name_size - 1, 'n');
  Board board = Board::create(in_order({longest + " p"}));
  EXPECT_EQ(enter(board, longest), 0);
  const int second = enter(board, longest);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(name_of(board, second).substr(name_of(board, second).size() - 2), "@2");
}

TEST(ActorName, IsCutWhereItIsTooLong) {
  Board board = Board::create({});
  const std::string name(200, 'n');
  EXPECT_EQ(name_of(board, enter(board, name)), std::string(k_name_size - 1, 'n'));
  EXPECT_NE(name_of(board, enter(board, name)), std::string(k_name_size - 1, 'n'));
}

TEST(Actor, IsKnownByProcessThreadAndIdent) {
  Board board = Board::create({});
  const int a = board.enter_actor("a", 11, 22, 33);
  const auto actor = board.picture().actors[static_cast<std::size_t>(a)];
  EXPECT_EQ(actor.pid, 11);
  EXPECT_EQ(actor.tid, 22);
  EXPECT_EQ(actor.ident, 33U);
}

TEST(ActorTable, RefusesOneMoreThanItHasRoomForAndCountsIt) {
  Board board = Board::create(in_order({"late p"}));
  for (int i = 1; i < k_max_actors; ++i)
    ASSERT_EQ(board.enter_actor("t" + std::to_string(i), 1, i, 0), i);
  EXPECT_EQ(enter(board, "one too many"), -1);
  EXPECT_EQ(enter(board, "and another"), -1);
  EXPECT_EQ(board.picture().actors_lost, 2U);
  EXPECT_EQ(enter(board, "late"), 0); // its slot was kept
}

TEST(Log, CountsWhatItHasNoRoomFor) {
  Board board = Board::create(in_order({"a p", "a q"}));
  const int a = enter(board, "a");
  while (board.log_count() < k_log_capacity)
    board.log_tokens(a, 1);
  EXPECT_EQ(board.picture().log_lost, 0U);
  EXPECT_EQ(pass(board, a, "p"), -1);
  EXPECT_EQ(pass(board, a, "q"), -1); // the order goes on without a log
  EXPECT_EQ(board.picture().log_lost, 2U);
  EXPECT_EQ(board.log_count(), k_log_capacity);
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(Tokens, AreLoggedWithTheirNumber) {
  Board board = Board::create({});
  const int a = enter(board, "a");
  board.log_tokens(a, 4096);
  const LogEntry entry = board.log_from(0).back();
  EXPECT_EQ(entry.kind, LogKind::tokens);
  EXPECT_EQ(entry.actor, a);
  EXPECT_EQ(entry.value, 4096);
}

TEST(Picture, CountsAttachedProcessesAndLostFacts) {
  Board board = Board::create({});
  board.agent_attached();
  board.agent_attached();
  board.count_lost_fact();
  EXPECT_EQ(board.picture().attached, 2U);
  EXPECT_EQ(board.picture().facts_lost, 1U);
}

} // namespace
} // namespace racelab::board::test

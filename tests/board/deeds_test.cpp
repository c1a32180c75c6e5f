// Events that do more than happen: the process of the actor is to die there, or the caches are to be removed.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

TEST(Deeds, OfAKillBelongToTheListedEventOnly) {
  Plan plan = in_order({"a p", "a p", "b q"});
  plan.steps[1].kills = true;
  Board board = Board::create(plan);
  EXPECT_TRUE(board.has_deeds());
  const int a = enter(board, "a"), b = enter(board, "b");
  EXPECT_FALSE(board.kills(pass(board, a, "p")));
  EXPECT_TRUE(board.kills(pass(board, a, "p")));
  EXPECT_FALSE(board.kills(pass(board, a, "p"))); // not listed
  EXPECT_FALSE(board.kills(pass(board, b, "q")));
  EXPECT_FALSE(board.kills(-1));
  EXPECT_FALSE(board.kills(1 << 20));
}

TEST(Deeds, OfAKillAreNotDoneOnceTheScheduleWasGivenUp) {
  Plan plan = in_order({"a p", "a q"});
  plan.steps[1].kills = true;
  Board board = Board::create(plan);
  const int a = enter(board, "a");
  EXPECT_TRUE(board.give_up(ScheduleState::stalled));
  EXPECT_FALSE(board.kills(pass(board, a, "q")));
}

TEST(Deeds, AreNoneInAnOrdinaryPlan) {
  Board board = Board::create(in_order({"a p"}));
  EXPECT_FALSE(board.has_deeds());
  const int a = enter(board, "a");
  pass(board, a, "p");
  EXPECT_FALSE(board.takes_removal(a, board.find_point("p")));
}

TEST(Deeds, OfARemovalFallToWhoeverComesFirst) {
  Plan plan = in_order({"a p"}, {"q"});
  plan.removal = {"", "q", 0};
  Board board = Board::create(plan);
  EXPECT_TRUE(board.has_deeds());
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, b, "q");
  EXPECT_FALSE(board.takes_removal(b, board.find_point("p")));
  EXPECT_TRUE(board.takes_removal(b, board.find_point("q")));
  pass(board, a, "q");
  EXPECT_FALSE(board.takes_removal(a, board.find_point("q"))); // once in a trial
  board.log_removal(b, 7);
  const auto log = board.log_from(0);
  EXPECT_EQ(log.back().kind, LogKind::removed);
  EXPECT_EQ(log.back().value, 7);
  EXPECT_EQ(log.back().actor, b);
}

TEST(Deeds, OfARemovalFallToTheActorAndThePassThatAreNamed) {
  Plan plan = in_order({"a p"}, {"q"});
  plan.removal = {"late", "q", 2};
  Board board = Board::create(plan);
  const int a = enter(board, "a"), late = enter(board, "late"), q = board.find_point("q");
  pass(board, a, "q");
  pass(board, a, "q");
  EXPECT_FALSE(board.takes_removal(a, q));
  pass(board, late, "q");
  EXPECT_FALSE(board.takes_removal(late, q));
  pass(board, late, "q");
  EXPECT_TRUE(board.takes_removal(late, q));
}

TEST(Deeds, NameOnlyPointsThatThePlanDeclares) {
  Plan plan = in_order({"a p"});
  plan.removal = {"", "elsewhere", 0};
  EXPECT_THROW(Board::create(plan), std::runtime_error);
}

} // namespace
} // namespace racelab::board::test

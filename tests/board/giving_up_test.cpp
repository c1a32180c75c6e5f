// A schedule that cannot go on is given up in the call that makes it so, and everybody is let go.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

using testing::Contains;
using testing::ElementsAre;

bool await_end(const Board& board) {
  return await([&] { return board.picture().state != ScheduleState::open; });
}

TEST(ActorThatEndsWithAnOpenStep, MakesTheScheduleUnreachableAndLetsTheOthersGo) {
  Board board = Board::create(in_order({"a p", "b q", "c q"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  Cast cast(board);
  cast.play(b, {"q"});
  cast.play(c, {"q"});
  ASSERT_TRUE(await_parked(board, b));
  ASSERT_TRUE(await_parked(board, c));
  board.end_actor(a);
  cast.join(); // both went on
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::unreachable);
  EXPECT_EQ(picture.stuck_step, 0);
  EXPECT_FALSE(picture.steps[1].done); // a pass after the end is no step
  EXPECT_THAT(log_kinds(board, b),
              ElementsAre(LogKind::actor_start, LogKind::parked, LogKind::released, LogKind::pass));
}

TEST(ActorThatEndsWithAnOpenStep, IsNamedByItsFirstOpenStep) {
  Board board = Board::create(in_order({"a p", "b p", "a q", "a r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "p");
  pass(board, b, "p");
  board.end_actor(b); // has done all of its steps
  EXPECT_EQ(board.picture().state, ScheduleState::open);
  board.end_actor(a);
  EXPECT_EQ(board.picture().stuck_step, 2);
}

TEST(ActorThatEnds, ChangesNothingOnceTheScheduleIsComplete) {
  Board board = Board::create(in_order({"a p"}));
  const int a = enter(board, "a");
  pass(board, a, "p");
  board.end_actor(a);
  board.end_actor(a); // twice does no harm
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  EXPECT_EQ(board.picture().stuck_step, -1);
  EXPECT_THAT(log_kinds(board, a), ElementsAre(LogKind::actor_start, LogKind::pass, LogKind::actor_end));
}

TEST(ActorThatIsNotListed, EndsWithoutHarm) {
  Board board = Board::create(in_order({"a p"}));
  enter(board, "a");
  board.end_actor(enter(board, "z"));
  EXPECT_EQ(board.picture().state, ScheduleState::open);
}

TEST(ScheduleThatIsGivenUp, HoldsNobodyAnyMore) {
  Board board = Board::create(in_order({"a p", "b q", "c q"}));
  board.end_actor(enter(board, "a"));
  const int b = enter(board, "b"), c = enter(board, "c");
  EXPECT_GE(pass(board, c, "q"), 0);
  EXPECT_GE(pass(board, b, "q"), 0);
  for (const LogEntry& entry : board.log_from(0))
    if (entry.kind == LogKind::pass) {
      EXPECT_EQ(entry.step, -1);
    }
}

TEST(ScheduleThatIsGivenUp, SaysSoInTheLogOnce) {
  Board board = Board::create(in_order({"a p", "b q"}));
  board.end_actor(enter(board, "a"));
  board.end_actor(enter(board, "b"));
  board.give_up(ScheduleState::stalled);
  int times = 0;
  for (const LogEntry& entry : board.log_from(0)) {
    if (entry.kind == LogKind::given_up) {
      ++times;
      EXPECT_EQ(entry.value, static_cast<std::int64_t>(ScheduleState::unreachable));
      EXPECT_EQ(entry.step, 0);
    }
  }
  EXPECT_EQ(times, 1);
}

TEST(ActorWhoseEarlierStepIsLaterInThePlan, MakesTheScheduleUnreachableAtOnce) {
  Board board = Board::create(plan_of({"a p", "a q"}, {{1, 0}}));
  pass(board, enter(board, "a"), "p");
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
  EXPECT_EQ(board.picture().stuck_step, 1);
}

TEST(ActorThatComesToItsLaterStepFirst, MakesTheScheduleUnreachableAtOnce) {
  Board board = Board::create(in_order({"a p", "a q"}));
  const int a = enter(board, "a");
  Cast cast(board);
  cast.play(a, {"q"}); // would wait for ever
  ASSERT_TRUE(await_end(board));
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::unreachable);
  EXPECT_EQ(picture.stuck_step, 0);
  ASSERT_EQ(picture.chain.size(), 1U);
  EXPECT_EQ(picture.chain[0].actor, a);
  EXPECT_EQ(picture.chain[0].other, a);
}

TEST(ActorThatComesToItsLaterStepFirst, IsNamedAlsoWhileAnotherActorsEventIsStillOpen) {
  Board board = Board::create(in_order({"b r", "a p", "a q"}));
  Cast cast(board);
  cast.play(enter(board, "a"), {"q"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
  EXPECT_EQ(board.picture().stuck_step, 1); // not b's: b may well come
}

TEST(ActorThatComesToItsLaterStepFirst, IsNoticedAtOnceWhoeverStandsBetween) {
  Board board = Board::create(in_order({"a p", "b q", "c q", "a r"}));
  Cast cast(board);
  cast.play(enter(board, "a"), {"r"}); // b and c have not even appeared
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
  EXPECT_EQ(board.picture().stuck_step, 0);
}

TEST(ActorThatComesToItsLaterStepFirst, LetsThoseGoWhoWaitForIt) {
  Board board = Board::create(in_order({"a p", "b q", "a r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"q"});
  ASSERT_TRUE(await_parked(board, b));
  cast.play(a, {"r"});
  ASSERT_TRUE(await_end(board));
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
  EXPECT_EQ(board.picture().stuck_step, 0);
}

TEST(ActorThatComesToItsLaterStepFirst, IsNotConfusedWithOneThatWaitsForAnUnrelatedEvent) {
  // b is parked at "b s" and will come to "b late" afterwards; a overtakes itself.
  Board board = Board::create(plan_of({"b late", "z go", "b s", "a p", "a q"}, {{1, 2}, {3, 4}}));
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"s"});
  ASSERT_TRUE(await_parked(board, b));
  cast.play(a, {"q"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().stuck_step, 3);
}

TEST(ActorThatComesToItsLaterStepFirst, IsNamedByTheEarliestOfTheStepsThatItLeftOut) {
  Board board =
      Board::create(plan_of({"a later", "z x", "a p", "a r", "b y", "a t"}, {{1, 2}, {2, 3}, {3, 4}, {4, 5}}));
  const int a = enter(board, "a");
  Cast cast(board);
  cast.play(a, {"t"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().stuck_step, 2); // not "a later", which may well come later
}

TEST(TwoActorsThatOvertakeEachOther, MakeTheScheduleUnreachable) {
  // a comes to p and then to y, b comes to t and then to s; asked: s before p, y before t.
  Board board = Board::create(plan_of({"b s", "a p", "a y", "b t"}, {{0, 1}, {2, 3}}));
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(a, {"p", "y"});
  ASSERT_TRUE(await_parked(board, a));
  cast.play(b, {"t", "s"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
  EXPECT_THAT((std::vector<int>{0, 2}), Contains(board.picture().stuck_step));
}

TEST(RepeatedPass, DoesNotOvertakeAStepThatWantsALaterHit) {
  Board board = Board::create(in_order({"a p#3", "a q"}));
  const int a = enter(board, "a");
  for (int i = 0; i < 3; ++i)
    pass(board, a, "p");
  pass(board, a, "q");
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(GiveUp, LetsEverybodyGoAndWorksOnce) {
  Board board = Board::create(in_order({"a p", "b q"}));
  const int b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"q"});
  ASSERT_TRUE(await_parked(board, b));
  EXPECT_TRUE(board.give_up(ScheduleState::stalled));
  cast.join();
  EXPECT_FALSE(board.give_up(ScheduleState::impossible));
  EXPECT_EQ(board.picture().state, ScheduleState::stalled);
}

TEST(GiveUp, DoesNotTouchACompleteSchedule) {
  Board board = Board::create(in_order({"a p"}));
  pass(board, enter(board, "a"), "p");
  EXPECT_FALSE(board.give_up(ScheduleState::stalled));
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

} // namespace
} // namespace racelab::board::test

// Steps that are passed for an actor that looks for its turn. What such an actor has announced is written here by hand:
// in a program it stands there for some microseconds.
#include "stray.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

using testing::ElementsAre;

constexpr int k_pid = 0x7ffffffe; // no process has it

ArrivalSlot& announce(const Stray& stray, int actor, int step) {
  ArrivalSlot& arrival = stray->arrivals[static_cast<std::size_t>(actor)];
  arrival.step = step;
  arrival.hit = 1;
  arrival.since = 1;
  arrival.word = Arrival::announced;
  return arrival;
}

TEST(ActorThatLooksForItsTurn, HasItsStepPassedByWhoMakesItReady) {
  Board board = Board::create(in_order({"a p", "b p", "a q"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  const Stray stray(board);
  const ArrivalSlot& arrival = announce(stray, b, 1);
  const std::int64_t index = pass(board, a, "p");
  EXPECT_EQ(arrival.word, Arrival::passed);
  EXPECT_EQ(arrival.log_index, index + 1);
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1"));
  EXPECT_GT(board.picture().actors[static_cast<std::size_t>(b)].waited, 0);
  EXPECT_EQ(board.picture().steps[1].log_index, static_cast<std::uint64_t>(index + 1));
}

TEST(ActorThatLooksForItsTurn, HasToSeeItBeforeTheNextStepIsReady) {
  Board board = Board::create(in_order({"a p", "b p", "a q"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  const Stray stray(board);
  ArrivalSlot& arrival = announce(stray, b, 1);
  Cast cast(board);
  cast.play(a, {"p", "q"});
  ASSERT_TRUE(await([&] { return board.hits(a, board.find_point("q")) == 1; }));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(passes(board).size(), 2U);
    sched_yield();
  }
  arrival.word = Arrival::none; // as the actor does that has seen it
  cast.join();
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1", "a q#1"));
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(ActorThatLooksForItsTurn, HoldsUpTheNextStepForAsLongAsTheMutexAtMost) {
  Board board = Board::create(in_order({"a p", "b p", "a q"}));
  board.set_patience_for_test(std::chrono::milliseconds(1));
  const int a = enter(board, "a"), b = enter(board, "b");
  const Stray stray(board);
  announce(stray, b, 1);
  pass(board, a, "p");
  pass(board, a, "q");
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(ActorThatLooksForItsTurn, PassesItselfWhereSomebodyIsParkedBehindIt) {
  Board board = Board::create(in_order({"a p", "b p", "c p"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  Cast cast(board);
  cast.play(c, {"p"});
  ASSERT_TRUE(await_parked(board, c));
  const Stray stray(board);
  const ArrivalSlot& arrival = announce(stray, b, 1);
  pass(board, a, "p");
  EXPECT_EQ(arrival.word, Arrival::announced);
  pass(board, b, "p");
  cast.join();
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1", "c p#1"));
}

TEST(ActorThatLooksForItsTurn, PassesItselfWhereMoreThanItsStepIsOpenBeforeTheNext) {
  Board board = Board::create(plan_of({"a p", "b p", "c p", "a q"}, {{0, 1}, {1, 3}, {2, 3}}));
  const int a = enter(board, "a"), b = enter(board, "b");
  const Stray stray(board);
  const ArrivalSlot& arrival = announce(stray, b, 1);
  pass(board, a, "p");
  EXPECT_EQ(arrival.word, Arrival::announced);
}

TEST(ActorThatLooksForItsTurn, PassesNothingOnceTheScheduleIsGivenUp) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  const Stray stray(board);
  announce(stray, b, 1);
  board.give_up(ScheduleState::stalled);
  pass(board, a, "p");
  EXPECT_THAT(passes(board), ElementsAre("a p#1"));
  pass(board, b, "p");
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1"));
}

TEST(ProcessThatDiesBeforeItSeesThatItsStepWasPassed, HoldsNobody) {
  Board board = Board::create(in_order({"a p", "b p", "a q"}));
  const int a = enter(board, "a"), b = board.enter_actor("b", k_pid, k_pid, 0);
  const Stray stray(board);
  announce(stray, b, 1);
  Cast cast(board);
  cast.play(a, {"p", "q"});
  ASSERT_TRUE(await([&] { return board.hits(a, board.find_point("q")) == 1; }));
  board.end_process(k_pid);
  cast.join();
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1", "a q#1"));
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(ProcessThatDiesWhileItLooksForItsTurn, IsPassedForNoMore) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int a = enter(board, "a"), b = board.enter_actor("b", k_pid, k_pid, 0);
  const Stray stray(board);
  announce(stray, b, 1);
  board.end_process(k_pid);
  pass(board, a, "p");
  EXPECT_THAT(passes(board), ElementsAre("a p#1"));
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
}

} // namespace
} // namespace racelab::board::test

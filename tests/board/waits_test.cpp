// Cycles of waiting, through events and known locks.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

bool await_end(const Board& board) {
  return await([&] { return board.picture().state != ScheduleState::open; });
}

Plan with_locks(Plan plan, std::vector<std::string> locks) {
  plan.locks = std::move(locks);
  return plan;
}

TEST(WanterOfALockOfAnActorThatIsParkedForIt, MakesTheScheduleImpossibleAndNamesTheChain) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_wanted(a, l);
  board.lock_taken(a, l);
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_parked(board, a));
  board.lock_wanted(b, l);
  cast.join(); // a was let go
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::impossible);
  ASSERT_EQ(picture.chain.size(), 2U);
  EXPECT_EQ(picture.chain[0].kind, WaitKind::for_lock);
  EXPECT_EQ(picture.chain[0].actor, b);
  EXPECT_EQ(picture.chain[0].other, a);
  EXPECT_EQ(picture.chain[0].lock, l);
  EXPECT_EQ(picture.chain[1].kind, WaitKind::for_event);
  EXPECT_EQ(picture.chain[1].actor, a);
  EXPECT_EQ(picture.chain[1].other, b);
  EXPECT_EQ(picture.chain[1].step, 0);
  EXPECT_EQ(board.point_name(picture.chain[1].point), "q");
}

TEST(ActorThatParksWithALockThatAnotherWants, MakesTheScheduleImpossibleInThatCall) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_taken(a, l);
  board.lock_wanted(b, l);
  EXPECT_EQ(board.picture().state, ScheduleState::open); // a may still let it go
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::impossible);
}

TEST(CycleThroughAnEventOfAnActorThatHasNotArrived, IsNoticedAtOnce) {
  // a holds l and waits for b's event, which may only follow c's, and c wants l.
  Board board = Board::create(with_locks(in_order({"c p", "b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), c = enter(board, "c"), l = board.find_lock("l");
  enter(board, "b");
  board.lock_taken(a, l);
  board.lock_wanted(c, l);
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::impossible);
}

TEST(CycleOfTwoLocksAndOneEvent, IsNamedInFull) {
  Board board = Board::create(with_locks(in_order({"c p", "a q"}), {"l", "m"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  const int l = board.find_lock("l"), m = board.find_lock("m");
  board.lock_taken(a, l);
  board.lock_taken(b, m);
  board.lock_wanted(b, l);
  board.lock_wanted(c, m);
  Cast cast(board);
  cast.play(a, {"q"}); // a waits for c, c for b's m, b for a's l
  ASSERT_TRUE(await_end(board));
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::impossible);
  ASSERT_EQ(picture.chain.size(), 3U);
  EXPECT_EQ(picture.chain[0].other, c);
  EXPECT_EQ(picture.chain[1].lock, m);
  EXPECT_EQ(picture.chain[2].lock, l);
}

TEST(WaitThatClosesNoCycle, LeavesTheScheduleOpen) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c"), l = board.find_lock("l");
  board.lock_taken(c, l);
  board.lock_wanted(b, l); // c runs and will let it go
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_parked(board, a));
  EXPECT_EQ(board.picture().state, ScheduleState::open);
  board.lock_released(c, l);
  board.lock_taken(b, l);
  pass(board, b, "p");
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(AttemptThatDoesNotWait, MakesNoCycle) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_taken(a, l);
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_parked(board, a));
  board.lock_not_taken(b); // tried, did not get it, goes on
  EXPECT_EQ(board.picture().state, ScheduleState::open);
  pass(board, b, "p");
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(AttemptThatTimedOut, MakesNoCycleLater) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_taken(a, l);
  board.lock_wanted(b, l);
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].state, ActorState::wanting);
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].lock, l);
  board.lock_not_taken(b);
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].state, ActorState::running);
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].lock, -1);
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_parked(board, a));
  EXPECT_EQ(board.picture().state, ScheduleState::open);
}

TEST(CycleOfKnownLocksAlone, LeavesItsChainButGivesNothingUp) {
  Board board = Board::create(with_locks(in_order({"z p"}), {"l", "m"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  const int l = board.find_lock("l"), m = board.find_lock("m");
  board.lock_taken(a, l);
  board.lock_taken(b, m);
  board.lock_wanted(a, m);
  EXPECT_TRUE(board.picture().chain.empty());
  board.lock_wanted(b, l);
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::open);
  ASSERT_EQ(picture.chain.size(), 2U);
  EXPECT_EQ(picture.chain[0].lock, l);
  EXPECT_EQ(picture.chain[1].lock, m);
  EXPECT_EQ(picture.chain[1].actor, a);
}

TEST(KnownLock, IsReleasedAfterAsManyReleasesAsItWasTaken) {
  Board board = Board::create(with_locks({}, {"l"}));
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_wanted(a, l);
  board.lock_taken(a, l);
  board.lock_wanted(a, l); // its own: no waiting
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(a)].state, ActorState::running);
  board.lock_taken(a, l);
  board.lock_released(b, l); // not the holder: ignored
  board.lock_released(a, l);
  EXPECT_EQ(board.picture().locks[0].holder, a);
  board.lock_released(a, l);
  EXPECT_EQ(board.picture().locks[0].holder, -1);
}

TEST(KnownLock, IsHeldByNobodyOnceItsHolderHasEnded) {
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l"}));
  const int z = enter(board, "z"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_taken(z, l);
  board.lock_taken(z, l);
  board.end_actor(z);
  EXPECT_EQ(board.picture().locks[0].holder, -1);
  board.lock_wanted(b, l);
  board.lock_taken(b, l);
  board.lock_released(b, l);
  EXPECT_EQ(board.picture().locks[0].holder, -1);
}

TEST(ActorThatIsNotListed, IsFoundInACycle) {
  // a waits for b's event; b wants l of z; z wants m of a.
  Board board = Board::create(with_locks(in_order({"b p", "a q"}), {"l", "m"}));
  const int a = enter(board, "a"), b = enter(board, "b"), z = enter(board, "z");
  board.lock_taken(z, board.find_lock("l"));
  board.lock_taken(a, board.find_lock("m"));
  board.lock_wanted(z, board.find_lock("m"));
  board.lock_wanted(b, board.find_lock("l"));
  EXPECT_EQ(board.picture().state, ScheduleState::open);
  Cast cast(board);
  cast.play(a, {"q"});
  ASSERT_TRUE(await_end(board));
  EXPECT_EQ(board.picture().state, ScheduleState::impossible);
  EXPECT_EQ(board.picture().chain.size(), 3U);
}

} // namespace
} // namespace racelab::board::test

// Serialized regions: at most one actor inside, in order of arrival.
#include "support.h"

#include <atomic>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

using testing::ElementsAre;

TEST(SerializedRegion, NeverHasTwoActorsInside) {
  Board board = Board::create(serializing({"r"}));
  std::atomic<int> inside{0}, most{0}, entries{0};
  Cast cast(board);
  for (int i = 0; i < 4; ++i) {
    cast.play([&, i] {
      const int actor = enter(board, "t" + std::to_string(i));
      for (int n = 0; n < 200; ++n) {
        pass(board, actor, "r.enter");
        const int now = ++inside;
        most = std::max(most.load(), now);
        ++entries;
        if (n % 8 == 0)
          sched_yield();
        --inside;
        pass(board, actor, "r.exit");
      }
    });
  }
  cast.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(entries, 800);
  EXPECT_EQ(board.picture().state, ScheduleState::open);
}

TEST(SerializedRegion, IsReentrantForItsOwner) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "r.enter");
  pass(board, a, "r.enter");
  pass(board, a, "r.exit");
  Cast cast(board);
  cast.play(b, {"r.enter", "r.exit"});
  ASSERT_TRUE(await_parked(board, b)); // one exit of two: a is still inside
  pass(board, a, "r.exit");
  cast.join();
  EXPECT_THAT(passes(board),
              ElementsAre("a r.enter#1", "a r.enter#2", "a r.exit#1", "a r.exit#2", "b r.enter#1", "b r.exit#1"));
}

TEST(SerializedRegion, IsHandedOverInOrderOfArrival) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c"), d = enter(board, "d");
  pass(board, a, "r.enter");
  Cast cast(board);
  for (const int actor : {d, b, c}) {
    cast.play(actor, {"r.enter", "r.exit"});
    ASSERT_TRUE(await_parked(board, actor));
  }
  pass(board, a, "r.exit");
  cast.join();
  EXPECT_THAT(passes(board), ElementsAre("a r.enter#1", "a r.exit#1", "d r.enter#1", "d r.exit#1", "b r.enter#1",
                                         "b r.exit#1", "c r.enter#1", "c r.exit#1"));
}

TEST(SerializedRegion, IsNotTakenBackByTheActorThatJustLeftWhileAnotherWaits) {
  for (int i = 0; i < 50; ++i) {
    Board board = Board::create(serializing({"r"}));
    const int a = enter(board, "a"), b = enter(board, "b");
    pass(board, a, "r.enter");
    Cast cast(board);
    cast.play(b, {"r.enter", "r.exit"});
    ASSERT_TRUE(await_parked(board, b));
    cast.play(a, {"r.exit", "r.enter", "r.exit"});
    cast.join();
    ASSERT_THAT(passes(board),
                ElementsAre("a r.enter#1", "a r.exit#1", "b r.enter#1", "b r.exit#1", "a r.enter#2", "a r.exit#2"));
  }
}

TEST(SerializedRegion, IsHandedOverWhenItsOwnerEnds) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "r.enter");
  pass(board, a, "r.enter");
  Cast cast(board);
  cast.play(b, {"r.enter", "r.exit"});
  ASSERT_TRUE(await_parked(board, b));
  board.end_actor(a);
  cast.join();
  EXPECT_EQ(passes(board).back(), "b r.exit#1");
  EXPECT_EQ(board.picture().state, ScheduleState::open); // that is no failure of the interleaving
}

TEST(SerializedRegion, IsFreeAgainAfterItsOwnerEndedAlone) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "r.enter");
  board.end_actor(a);
  EXPECT_GE(pass(board, b, "r.enter"), 0);
}

TEST(SerializedRegions, ExcludeEachOther) {
  Board board = Board::create(serializing({"r", "s"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "r.enter");
  Cast cast(board);
  cast.play(b, {"s.enter", "s.exit"});
  ASSERT_TRUE(await_parked(board, b));
  pass(board, a, "s.enter"); // the owner goes where it likes
  pass(board, a, "s.exit");
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].state, ActorState::parked);
  pass(board, a, "r.exit");
  cast.join();
}

TEST(SerializedRegion, HoldsNobodyAtOtherPoints) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "r.enter");
  EXPECT_GE(pass(board, b, "elsewhere"), 0);
  EXPECT_GE(pass(board, b, "r.exit"), 0); // an exit of somebody who is not inside changes nothing
  Cast cast(board);
  cast.play(b, {"r.enter"});
  ASSERT_TRUE(await_parked(board, b));
}

TEST(SerializedRegion, HoldsNobodyAnyMoreOnceTheScheduleIsGivenUp) {
  Board board = Board::create(serializing({"r"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  pass(board, a, "r.enter");
  Cast cast(board);
  cast.play(b, {"r.enter"});
  ASSERT_TRUE(await_parked(board, b));
  EXPECT_TRUE(board.give_up(ScheduleState::stalled));
  cast.join();
  EXPECT_GE(pass(board, c, "r.enter"), 0);
}

TEST(SerializedRegion, IsImpossibleWhereItsOwnerWantsALockOfAnActorThatWaitsToEnter) {
  Plan plan = serializing({"r"});
  plan.locks = {"l"};
  Board board = Board::create(plan);
  const int a = enter(board, "a"), b = enter(board, "b"), l = board.find_lock("l");
  board.lock_taken(b, l);
  pass(board, a, "r.enter");
  Cast cast(board);
  cast.play(b, {"r.enter"});
  ASSERT_TRUE(await_parked(board, b));
  board.lock_wanted(a, l);
  cast.join();
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::impossible);
  ASSERT_EQ(picture.chain.size(), 2U);
  EXPECT_EQ(picture.chain[0].kind, WaitKind::for_lock);
  EXPECT_EQ(picture.chain[0].actor, a);
  EXPECT_EQ(picture.chain[0].other, b);
  EXPECT_EQ(picture.chain[1].kind, WaitKind::for_region);
  EXPECT_EQ(picture.chain[1].actor, b);
  EXPECT_EQ(picture.chain[1].other, a);
}

} // namespace
} // namespace racelab::board::test

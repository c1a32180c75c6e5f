// A board that the program under test has overwritten.
#include "stray.h"
#include "support.h"

#include "board/futex.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Board ordinary_board() {
  Plan plan = in_order({"a p", "b p", "a q"});
  plan.locks = {"l"};
  Board board = Board::create(plan);
  board.set_patience_for_test(std::chrono::milliseconds(1));
  return board;
}

template <class Change> std::string refusal_after(Change change) {
  const Board board = ordinary_board();
  const Stray stray(board);
  change(*stray);
  std::string error = "mapped";
  Board::map(board.fd(), error, std::chrono::milliseconds(1));
  return error;
}

TEST(DamagedBoard, IsNotMapped) {
  EXPECT_EQ(refusal_after([](Memory&) {}), "mapped");
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.actors = k_max_actors + 1; }),
              HasSubstr("number of actors is 1025"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.points = -1; }), HasSubstr("number of points is -1"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.chain_length = 33; }), HasSubstr("length of the cycle is 33"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.log_count = k_log_capacity + 1; }), HasSubstr("log entries"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.region_owner = 2; }), HasSubstr("owner of the region is 2"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.steps[2].actor = 2; }), HasSubstr("actor of an event is 2"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.steps[0].point = -1; }), HasSubstr("point of an event is -1"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.steps[0].next_of_actor = 3; }), HasSubstr("next event of an actor is 3"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.steps[0].edges_end = 3; }), HasSubstr("edges of an event is 3"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.actors[0].first_step = 9; }), HasSubstr("first event of an actor is 9"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.first_to_wake = 0; }), HasSubstr("first actor to wake is 0"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.edges[1].before = 3; }), HasSubstr("event of an edge is 3"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.locks[0].holder = 7; }), HasSubstr("holder of a lock is 7"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.actors[1].state = ActorState{99}; }),
              HasSubstr("state of an actor is 99"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.arrivals[1].word = Arrival{3}; }), HasSubstr("arrival of an actor is 3"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.steps[0].after_arrival = 9; }), HasSubstr("comes after is 9"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.points[0].name.fill('x'); }), HasSubstr("point's name"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.mutex.__data.__kind = 0; }), HasSubstr("mutex"));
  EXPECT_THAT(refusal_after([](Memory& m) { m.header.mutex.__data.__lock = 0x3ffffffe; }), HasSubstr("mutex"));
}

TEST(OverwrittenBoard, IsNeverReadOrWrittenBesideItsMemory) {
  for (const int fill : {0x01, 0x7f, 0x80, 0xff}) {
    Board board = ordinary_board();
    const int a = enter(board, "a");
    const Stray stray(board);
    const pthread_mutex_t mutex = stray->header.mutex;
    std::memset(static_cast<void*>(&*stray), fill, sizeof(Memory));
    stray->header.mutex = mutex;

    const Board::Picture picture = board.picture();
    EXPECT_LE(picture.actors.size(), static_cast<std::size_t>(k_max_actors));
    EXPECT_LE(board.log_from(0).size(), static_cast<std::size_t>(k_log_capacity));
    for (const int far : {-1, 0, 1 << 20})
      EXPECT_LT(board.pass(far, 1 << 20), 0);
    board.lock_wanted(a, 1 << 20);
    board.lock_taken(1 << 20, 0);
    EXPECT_EQ(board.hits(-1, 0), 0U);
    board.end_process(0x7f7f7f7f);
    board.give_up(ScheduleState::stalled);
    EXPECT_FALSE(board.is_broken());
  }
}

TEST(OverwrittenBoard, WhoseListsGoInCirclesIsLeftAgain) {
  Board board = ordinary_board();
  const int a = enter(board, "a");
  const Stray stray(board);
  stray->steps[0].next_of_actor = 0;
  stray->steps[0].done = 1;
  stray->header.first_to_wake = 1;
  stray->actors[1].next_to_wake = 1;
  EXPECT_GE(pass(board, a, "q"), 0);
  EXPECT_FALSE(board.is_broken());
}

TEST(ParkedActor, ThatIsCalledByMistakeGoesOnWaiting) {
  Board board = ordinary_board();
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"p"});
  ASSERT_TRUE(await_parked(board, b));
  const Stray stray(board);
  std::atomic<Wake>& wake = stray->actors[1].wake;
  ASSERT_TRUE(await([&] { return wake.load() == Wake::sleeping; }));
  wake.store(Wake::granted); // as a process does for which the board broke
  wake_sleeper(wake);
  ASSERT_TRUE(await([&] { return wake.load() == Wake::sleeping; }));
  pass(board, a, "p");
  cast.join();
  EXPECT_THAT(passes(board), testing::ElementsAre("a p#1", "b p#1"));
}

TEST(BoardWhoseMutexNobodyWillLetGo, BreaksAndThenHoldsNobody) {
  Board board = ordinary_board();
  const int a = enter(board, "a"), b = enter(board, "b");
  std::int64_t passed = 0;
  Cast cast(board);
  cast.play([&] { passed = pass(board, b, "p"); });
  ASSERT_TRUE(await_parked(board, b));
  const Stray stray(board);
  stray.hold_mutex_for_nobody();
  EXPECT_EQ(pass(board, a, "p"), -1);
  EXPECT_TRUE(board.is_broken());
  cast.join(); // the parked one is let go
  EXPECT_EQ(passed, -1);
  EXPECT_THAT(board.picture().actors, IsEmpty());
  EXPECT_FALSE(board.give_up(ScheduleState::stalled));
}

} // namespace
} // namespace racelab::board::test

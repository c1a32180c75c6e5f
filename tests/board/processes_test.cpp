// One board, several processes; some of them die.
#include "child.h"
#include "stray.h"
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace racelab::board::test {
namespace {

using testing::ElementsAre;

bool await_named(const Board& board, const std::string& name, ActorState state) {
  return await([&] {
    for (const auto& actor : board.picture().actors)
      if (actor.name == name && actor.state == state)
        return true;
    return false;
  });
}

TEST(Processes, HandTheTurnToEachOther) {
  std::vector<std::string> events, wanted;
  for (int i = 1; i <= 20; ++i) {
    for (const char* actor : {"parent", "child"}) {
      events.push_back(std::string(actor) + " p");
      wanted.push_back(events.back() + "#" + std::to_string(i));
    }
  }
  Board board = Board::create(in_order(events));
  Child child(board, [](Board& own) {
    const int actor = enter(own, "child");
    for (int i = 0; i < 20; ++i)
      pass(own, actor, "p");
  });
  const int actor = enter(board, "parent");
  for (int i = 0; i < 20; ++i)
    pass(board, actor, "p");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(passes(board), wanted);
}

TEST(ProcessKilledWhileParked, FreesTheOthersOnceItIsReportedDead) {
  Board board = Board::create(in_order({"free p", "child p", "other p"}));
  Child child(board, [](Board& own) { pass(own, enter(own, "child"), "p"); });
  ASSERT_TRUE(await_named(board, "child", ActorState::parked));
  const int other = enter(board, "other");
  Cast cast(board);
  cast.play(other, {"p"});
  ASSERT_TRUE(await_parked(board, other));
  const int pid = child.pid();
  child.end_with(SIGKILL);
  EXPECT_EQ(board.picture().state, ScheduleState::open);
  board.end_process(pid);
  cast.join();
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::unreachable);
  EXPECT_EQ(picture.stuck_step, 1);
}

TEST(ProcessKilledBetweenItsGrantAndItsPass, FreesTheOthersOnceItIsReportedDead) {
  Board board = Board::create(in_order({"first p", "child p", "other p"}));
  Child child(board, [](Board& own) { pass(own, enter(own, "child"), "p"); });
  ASSERT_TRUE(await_named(board, "child", ActorState::parked));
  child.signal(SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child.pid(), &status, WUNTRACED), child.pid());
  pass(board, enter(board, "first"), "p"); // grants the stopped process
  EXPECT_TRUE(await_named(board, "child", ActorState::running));
  const int other = enter(board, "other");
  Cast cast(board);
  cast.play(other, {"p"});
  ASSERT_TRUE(await_parked(board, other));
  const int pid = child.pid();
  child.end_with(SIGKILL);
  board.end_process(pid);
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::unreachable);
}

TEST(ProcessKilledAsTheNextOwnerOfARegion, PassesItOn) {
  Board board = Board::create(serializing({"r"}));
  const int owner = enter(board, "owner"), other = enter(board, "other");
  pass(board, owner, "r.enter");
  Child child(board, [](Board& own) { pass(own, enter(own, "child"), "r.enter"); });
  ASSERT_TRUE(await_named(board, "child", ActorState::parked));
  child.signal(SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(child.pid(), &status, WUNTRACED), child.pid());
  pass(board, owner, "r.exit");
  Cast cast(board);
  cast.play(other, {"r.enter", "r.exit"});
  ASSERT_TRUE(await_parked(board, other));
  const int pid = child.pid();
  child.end_with(SIGKILL);
  board.end_process(pid);
  cast.join();
  EXPECT_THAT(passes(board), ElementsAre("owner r.enter#1", "owner r.exit#1", "other r.enter#1", "other r.exit#1"));
}

TEST(ProcessKilledWithTheMutex, StopsNobody) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  Child child(board, [&](Board& own) {
    own.lock_for_test();
    EXPECT_EQ(write(told[1], "x", 1), 1);
    pause();
  });
  char byte = 0;
  ASSERT_EQ(read(told[0], &byte, 1), 1);
  Cast cast(board);
  cast.play(b, {"p"}); // waits for the mutex, or will
  cast.play(a, {"p"});
  child.end_with(SIGKILL);
  cast.join();
  const auto picture = board.picture();
  EXPECT_EQ(picture.recovered, 1U);
  EXPECT_EQ(picture.state, ScheduleState::complete);
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1"));
  close(told[0]);
  close(told[1]);
}

// Runs `part` on the board's bytes in a process that has the mutex and dies with it.
template <class Part> void change_and_die(const Board& board, Part part) {
  Child child(board, [&](Board& own) {
    void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, board.fd(), 0);
    own.lock_for_test();
    part(*static_cast<Memory*>(at));
    raise(SIGKILL);
  });
  child.wait();
}

TEST(ProcessKilledAfterItsStepBeforeItsGrant, IsStoodInForByTheNextWithTheMutex) {
  Board board = Board::create(in_order({"a p", "b p", "c p"}));
  const int b = enter(board, "b"), c = enter(board, "c");
  Cast cast(board);
  cast.play(b, {"p"});
  cast.play(c, {"p"});
  ASSERT_TRUE(await_parked(board, b) && await_parked(board, c));
  change_and_die(board, [](Memory& m) { m.steps[0].done = 1; });
  EXPECT_EQ(board.picture().recovered, 1U);
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  EXPECT_THAT(passes(board), ElementsAre("b p#1", "c p#1"));
}

TEST(ProcessKilledAfterItsLastStep, LeavesACompleteSchedule) {
  Board board = Board::create(in_order({"a p"}));
  change_and_die(board, [](Memory& m) { m.steps[0].done = 1; });
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(ProcessKilledWhileItLetsEverybodyGo, IsStoodInForByTheNextWithTheMutex) {
  Board board = Board::create(in_order({"a p", "b p", "c p"}));
  Cast cast(board);
  for (const char* name : {"b", "c"}) {
    const int actor = enter(board, name);
    cast.play(actor, {"p"});
    ASSERT_TRUE(await_parked(board, actor));
  }
  change_and_die(board, [](Memory& m) {
    m.header.state = ScheduleState::stalled;
    m.header.let_go = 1;
  });
  EXPECT_EQ(board.picture().recovered, 1U);
  cast.join();
  EXPECT_EQ(passes(board).size(), 2U);
}

TEST(ProcessKilledAfterItsGrantBeforeItsCall, IsStoodInForOnceItIsReportedDead) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"p"});
  ASSERT_TRUE(await_parked(board, b));
  void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, board.fd(), 0);
  Memory& memory = *static_cast<Memory*>(at);
  const auto asleep = [&] { return memory.actors[static_cast<std::size_t>(b)].wake.load() == Wake::sleeping; };
  ASSERT_TRUE(await(asleep));
  memory.steps[0].done = 1; // as a process that did all but the call, which would come after the mutex is free
  memory.steps[1].open_before = 0;
  memory.header.open_steps = 1;
  memory.header.waiting = 0;
  memory.actors[static_cast<std::size_t>(b)].state = ActorState::running;
  memory.actors[static_cast<std::size_t>(b)].wake.store(Wake::granted);
  board.end_process(0x7fffffff);
  cast.join();
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  munmap(at, sizeof(Memory));
}

void announce(Memory& memory, int actor, int step) {
  ArrivalSlot& arrival = memory.arrivals[static_cast<std::size_t>(actor)];
  arrival.step = step;
  arrival.hit = 1;
  arrival.word = Arrival::announced;
}

Arrival arrival_of(const Board& board, int actor) {
  const Stray stray(board);
  return stray->arrivals[static_cast<std::size_t>(actor)].word;
}

TEST(ProcessKilledAfterTheLogOfAStepThatItPassesForAnother, IsStoodInForByTheNextWithTheMutex) {
  Board board = Board::create(in_order({"a p", "b p", "c p"}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  pass(board, a, "p");
  change_and_die(board, [&](Memory& m) {
    announce(m, b, 1);
    const std::uint32_t n = m.header.log_count;
    m.log[n] = {m.header.last_time, 0, b, 0, 1, 1, LogKind::pass};
    m.header.log_count = n + 1;
  });
  EXPECT_EQ(board.picture().recovered, 1U);
  EXPECT_EQ(arrival_of(board, b), Arrival::passed);
  board.end_actor(b); // it has seen it, and says no more
  pass(board, c, "p");
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "b p#1", "c p#1"));
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
}

TEST(ProcessKilledAfterAStepThatItPassesForAnother, IsStoodInForByTheNextWithTheMutex) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int b = enter(board, "b");
  pass(board, enter(board, "a"), "p");
  change_and_die(board, [&](Memory& m) {
    announce(m, b, 1);
    m.steps[1].done = 1;
  });
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  EXPECT_EQ(arrival_of(board, b), Arrival::passed);
}

TEST(EndOfAProcess, EndsAllItsActorsAndNobodyElse) {
  Board board = Board::create({});
  Child child(board, [](Board& own) {
    enter(own, "x");
    enter(own, "y");
  });
  const int pid = child.pid();
  EXPECT_EQ(child.wait(), 0);
  enter(board, "z");
  board.end_process(pid);
  for (const auto& actor : board.picture().actors)
    EXPECT_EQ(actor.state, actor.name == "z" ? ActorState::running : ActorState::ended) << actor.name;
}

} // namespace
} // namespace racelab::board::test

// What a plan asks for is what the log shows: steps in order, everything else free.
#include "board/clock.h"
#include "support.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <semaphore>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

using testing::ElementsAre;

// Threads that come to the next of their points when told, one at a time.
class Puppets {
public:
  Puppets(Board& board, const std::vector<std::vector<std::string>>& points) : m_board(board), m_cast(board) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      m_puppets.push_back(std::make_unique<Puppet>());
      Puppet& puppet = *m_puppets.back();
      puppet.actor = enter(board, std::string(1, static_cast<char>('a' + i)));
      m_cast.play([&puppet, &board, own = points[i]] {
        for (const std::string& point : own) {
          puppet.told.acquire();
          pass(board, puppet.actor, point);
          ++puppet.passed;
        }
      });
    }
  }
  ~Puppets() {
    for (const auto& puppet : m_puppets)
      puppet->told.release(100); // a failed test leaves nobody behind
  }

  // The i-th thread comes to its next point. Returns once it has passed that, or waits for its turn there or further
  // back.
  bool tell(std::size_t i) {
    Puppet& puppet = *m_puppets[i];
    puppet.told.release();
    const int all = ++puppet.tellings;
    return await([&] {
      return puppet.passed == all ||
             m_board.picture().actors[static_cast<std::size_t>(puppet.actor)].state == ActorState::parked;
    });
  }
  void join() { m_cast.join(); }

private:
  struct Puppet {
    int actor = -1, tellings = 0;
    std::counting_semaphore<> told{0};
    std::atomic<int> passed{0};
  };
  Board& m_board;
  std::vector<std::unique_ptr<Puppet>> m_puppets;
  Cast m_cast;
};

// Four steps p0 < p1 < p2 < p3 dealt to the threads, for every order in which the threads can arrive.
void try_all_arrivals(const std::vector<std::size_t>& owner, std::size_t threads) {
  std::vector<std::string> events, wanted;
  std::vector<std::vector<std::string>> points(threads);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const std::string actor(1, static_cast<char>('a' + owner[i])), point = "p" + std::to_string(i);
    events.push_back(actor + " " + point);
    wanted.push_back(actor + " " + point + "#1");
    points[owner[i]].push_back(point);
  }
  std::vector<std::size_t> arrivals = owner;
  std::sort(arrivals.begin(), arrivals.end());
  do {
    Board board = Board::create(in_order(events));
    Puppets puppets(board, points);
    for (const std::size_t thread : arrivals)
      ASSERT_TRUE(puppets.tell(thread));
    puppets.join();
    ASSERT_EQ(passes(board), wanted) << "arrivals: " << testing::PrintToString(arrivals);
    ASSERT_EQ(board.picture().state, ScheduleState::complete);
  } while (std::next_permutation(arrivals.begin(), arrivals.end()));
}

TEST(FourSteps, AreLoggedInTheAskedOrderWhicheverOfTwoThreadsArrivesFirst) {
  for (unsigned deal = 0; deal < 16; ++deal) {
    const std::vector<std::size_t> owner{deal & 1U, deal >> 1U & 1U, deal >> 2U & 1U, deal >> 3U & 1U};
    ASSERT_NO_FATAL_FAILURE(try_all_arrivals(owner, 2));
  }
}

TEST(FourSteps, AreLoggedInTheAskedOrderWhicheverOfThreeThreadsArrivesFirst) {
  for (std::size_t deal = 0; deal < 81; ++deal)
    ASSERT_NO_FATAL_FAILURE(try_all_arrivals({deal % 3, deal / 3 % 3, deal / 9 % 3, deal / 27}, 3));
}

TEST(Step, WhoseTurnItIsPassesWithoutWaiting) {
  Board board = Board::create(in_order({"a p", "a q"}));
  const int a = enter(board, "a");
  pass(board, a, "p");
  pass(board, a, "q");
  EXPECT_THAT(log_kinds(board, a), ElementsAre(LogKind::actor_start, LogKind::pass, LogKind::pass));
}

TEST(Step, IsFoundInTheLogWhereThePictureSaysItIs) {
  Board board = Board::create(in_order({"a p", "a q"}, {"r"}));
  const int a = enter(board, "a");
  pass(board, a, "r");
  EXPECT_EQ(pass(board, a, "p"), 2);
  pass(board, a, "r");
  EXPECT_EQ(pass(board, a, "q"), 4);
  const auto picture = board.picture();
  EXPECT_EQ(picture.steps[0].log_index, 2U);
  EXPECT_EQ(picture.steps[1].log_index, 4U);
  const auto log = board.log_from(0);
  EXPECT_EQ(log[2].step, 0);
  EXPECT_EQ(log[3].step, -1);
  EXPECT_EQ(log[4].step, 1);
}

TEST(HitNumber, PicksTheNthPassAndLeavesTheOthersFree) {
  Board board = Board::create(in_order({"a p#2", "b p#1"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "p");
  EXPECT_FALSE(board.picture().steps[0].done);
  pass(board, a, "p");
  EXPECT_TRUE(board.picture().steps[0].done);
  pass(board, a, "p");
  pass(board, b, "p");
  EXPECT_THAT(passes(board), ElementsAre("a p#1", "a p#2", "a p#3", "b p#1"));
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  EXPECT_EQ(board.hits(a, board.find_point("p")), 3U);
}

TEST(StepWithoutHitNumber, TakesTheNextPassThatNoEarlierStepHasTaken) {
  Board board = Board::create(in_order({"a p", "a p", "a q"}));
  const int a = enter(board, "a");
  pass(board, a, "p");
  EXPECT_TRUE(board.picture().steps[0].done);
  EXPECT_FALSE(board.picture().steps[1].done);
  pass(board, a, "p");
  EXPECT_TRUE(board.picture().steps[1].done);
  pass(board, a, "p");
  EXPECT_EQ(board.log_from(0).back().step, -1);
}

TEST(StepWithoutHitNumber, LeavesANumberedOneItsPass) {
  Board board = Board::create(plan_of({"a p#2", "a p"}, {}));
  const int a = enter(board, "a");
  pass(board, a, "p");
  pass(board, a, "p");
  const auto log = board.log_from(0);
  EXPECT_EQ(log[1].step, 1);
  EXPECT_EQ(log[2].step, 0);
}

TEST(PartialOrder, HoldsAnEventUntilAllItsPredecessorsHavePassed) {
  for (const bool a_first : {true, false}) {
    Board board = Board::create(plan_of({"a p", "b p", "c p"}, {{0, 2}, {1, 2}}));
    const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
    Cast cast(board);
    cast.play(c, {"p"});
    ASSERT_TRUE(await_parked(board, c));
    pass(board, a_first ? a : b, "p");
    EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(c)].state, ActorState::parked);
    pass(board, a_first ? b : a, "p");
    cast.join();
    EXPECT_EQ(passes(board).back(), "c p#1");
  }
}

TEST(PartialOrder, LeavesUnrelatedEventsFree) {
  Board board = Board::create(plan_of({"a p", "b p", "c p"}, {{0, 2}}));
  const int b = enter(board, "b"), a = enter(board, "a");
  pass(board, b, "p");
  pass(board, a, "p");
  EXPECT_THAT(passes(board), ElementsAre("b p#1", "a p#1"));
}

TEST(PartialOrder, GrantsAllThatBecomeReadyAtOnce) {
  Board board = Board::create(plan_of({"a p", "b p", "c p"}, {{0, 1}, {0, 2}}));
  const int a = enter(board, "a"), b = enter(board, "b"), c = enter(board, "c");
  Cast cast(board);
  cast.play(b, {"p"});
  cast.play(c, {"p"});
  ASSERT_TRUE(await_parked(board, b));
  ASSERT_TRUE(await_parked(board, c));
  pass(board, a, "p");
  cast.join();
  EXPECT_EQ(passes(board).front(), "a p#1");
  EXPECT_EQ(passes(board).size(), 3U);
}

TEST(EventThatIsNotListed, NeverWaits) {
  Board board = Board::create(in_order({"a p", "b p"}, {"q"}));
  const int b = enter(board, "b"), stranger = enter(board, "stranger");
  pass(board, b, "q");        // a listed actor elsewhere
  pass(board, stranger, "p"); // a listed point, somebody else
  Cast cast(board);
  cast.play(b, {"p"});
  ASSERT_TRUE(await_parked(board, b));
  pass(board, stranger, "q"); // while somebody is held
  EXPECT_THAT(passes(board), ElementsAre("b q#1", "stranger p#1", "stranger q#1"));
}

TEST(EventAfterTheLastStep, IsFree) {
  Board board = Board::create(in_order({"a p", "b p"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  pass(board, a, "p");
  pass(board, b, "p");
  pass(board, b, "p");
  pass(board, a, "p");
  EXPECT_EQ(board.picture().state, ScheduleState::complete);
  EXPECT_EQ(passes(board).size(), 4U);
}

TEST(PlanWithoutSteps, StaysOpenAndHoldsNobody) {
  Board board = Board::create(plan_of({}, {}, {"p"}));
  const int a = enter(board, "a");
  pass(board, a, "p");
  board.end_actor(a);
  EXPECT_EQ(board.picture().state, ScheduleState::open);
}

TEST(ParkedActor, ShowsWhereItWaitsAndForWhat) {
  Board board = Board::create(in_order({"a p", "b q"}));
  enter(board, "a");
  const int b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"q"});
  ASSERT_TRUE(await_parked(board, b));
  const auto actor = board.picture().actors[static_cast<std::size_t>(b)];
  EXPECT_EQ(board.point_name(actor.point), "q");
  EXPECT_EQ(actor.step, 1);
}

TEST(ParkedActor, HasItsWaitCountedInTheEventAndInTheSum) {
  constexpr std::int64_t k_hold_ns = 3'000'000;
  Board board = Board::create(in_order({"a p", "b p", "a p", "b p"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"p", "p"});
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(await_parked(board, b));
    const std::int64_t seen = now_ns();
    ASSERT_TRUE(await([&] { return now_ns() - seen >= k_hold_ns; }));
    pass(board, a, "p");
  }
  cast.join();
  std::int64_t in_events = 0;
  for (const LogEntry& entry : board.log_from(0)) {
    if (entry.kind == LogKind::pass && entry.actor == b) {
      EXPECT_GE(entry.value, k_hold_ns);
      in_events += entry.value;
    } else if (entry.kind == LogKind::pass) {
      EXPECT_EQ(entry.value, 0);
    }
  }
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(b)].waited, in_events);
  EXPECT_EQ(board.picture().actors[static_cast<std::size_t>(a)].waited, 0);
}

TEST(Log, IsInOrderOfTime) {
  Board board = Board::create(in_order({"a p", "b p", "a p"}));
  const int a = enter(board, "a"), b = enter(board, "b");
  Cast cast(board);
  cast.play(b, {"p"});
  cast.play(a, {"p", "p"});
  cast.join();
  const auto log = board.log_from(0);
  EXPECT_TRUE(std::is_sorted(log.begin(), log.end(), [](const auto& x, const auto& y) { return x.time < y.time; }));
  EXPECT_EQ(board.log_from(3).size(), log.size() - 3);
  EXPECT_TRUE(board.log_from(1000).empty());
}

} // namespace
} // namespace racelab::board::test

// Random partial orders on random threads: the log never shows a step before one of its predecessors.
#include "support.h"

#include <random>

#include <gtest/gtest.h>

namespace racelab::board::test {
namespace {

constexpr unsigned k_seed = 20250731;
constexpr int k_schedules = 1000;

using Random = std::mt19937;

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

struct Case {
  Plan plan;
  std::vector<std::vector<std::string>> points; // by actor: what it comes to, in order
};

// Edges lead to later steps only and every actor comes to its steps in that order, so that the schedule can be
// realised.
Case random_case(Random& random) {
  const int actors = pick(random, 2, 5), steps = pick(random, 2, 12);
  Case made;
  made.points.resize(static_cast<std::size_t>(actors));
  std::vector<int> hits(static_cast<std::size_t>(actors), 0);
  std::vector<std::string> events;
  Edges edges;
  for (int i = 0; i < steps; ++i) {
    const auto actor = static_cast<std::size_t>(pick(random, 0, actors - 1));
    const int hit = ++hits[actor];
    events.push_back("t" + std::to_string(actor) + " p" + (pick(random, 0, 1) ? "#" + std::to_string(hit) : ""));
    if (pick(random, 0, 2) == 0)
      made.points[actor].emplace_back("free");
    made.points[actor].emplace_back("p");
    for (int before = 0; before < i; ++before)
      if (pick(random, 0, 3) == 0)
        edges.emplace_back(before, i);
  }
  made.plan = plan_of(events, edges, {"free"});
  return made;
}

void run(Board& board, const Case& made, Random& random) {
  Cast cast(board);
  for (std::size_t i = 0; i < made.points.size(); ++i) {
    cast.play([&board, i, &points = made.points[i], own = Random(random())]() mutable {
      const int actor = enter(board, "t" + std::to_string(i));
      for (const std::string& point : points) {
        for (int n = pick(own, 0, 8); n > 0; --n)
          sched_yield();
        pass(board, actor, point);
      }
      board.end_actor(actor);
    });
  }
  cast.join();
}

TEST(RandomSchedules, NeverShowAStepBeforeItsPredecessor) {
  RecordProperty("seed", static_cast<int>(k_seed));
  for (int n = 0; n < k_schedules; ++n) {
    Random random(k_seed + static_cast<unsigned>(n));
    const Case made = random_case(random);
    Board board = Board::create(made.plan);
    run(board, made, random);
    ASSERT_EQ(board.picture().state, ScheduleState::complete) << "seed " << k_seed + static_cast<unsigned>(n);

    std::vector<int> position(made.plan.steps.size(), -1);
    const auto log = board.log_from(0);
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (log[i].kind == LogKind::pass && log[i].step >= 0) {
        ASSERT_EQ(position[static_cast<std::size_t>(log[i].step)], -1) << "seed " << k_seed + static_cast<unsigned>(n);
        position[static_cast<std::size_t>(log[i].step)] = static_cast<int>(i);
      }
    }
    for (const auto& [before, after] : made.plan.edges) {
      ASSERT_GE(position[static_cast<std::size_t>(before)], 0);
      ASSERT_LT(position[static_cast<std::size_t>(before)], position[static_cast<std::size_t>(after)])
          << "seed " << k_seed + static_cast<unsigned>(n) << ": steps " << before << " and " << after;
    }
  }
}

} // namespace
} // namespace racelab::board::test

// Eight threads of one process and of two, all at once on one board: a seeded order of steps, and between the steps a
// serialized region, a known lock, tokens and points that nobody controls.
#include "child.h"
#include "support.h"

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

namespace racelab::board::test {
namespace {

constexpr unsigned k_seed = 20261129;
constexpr int k_actors = 8;
constexpr int k_steps = 600; // far more hand-overs than a thread has time slices
constexpr std::int64_t k_tokens = 3;

// What region and lock guard. Not atomic: an update is lost, and ThreadSanitizer says so, if two are inside at once.
struct Guarded {
  pthread_mutex_t lock;
  std::int64_t in_region, in_lock;
};

class SharedGuarded {
public:
  SharedGuarded() {
    void* at = mmap(nullptr, sizeof(Guarded), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    m_guarded = static_cast<Guarded*>(at);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m_guarded->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~SharedGuarded() { munmap(m_guarded, sizeof(Guarded)); }
  SharedGuarded(const SharedGuarded&) = delete;
  SharedGuarded& operator=(const SharedGuarded&) = delete;

  Guarded& operator*() const { return *m_guarded; }

private:
  Guarded* m_guarded = nullptr;
};

std::string actor_name(int actor) {
  return "t" + std::to_string(actor);
}

// Who makes the i-th step.
std::vector<int> seeded_order() {
  std::mt19937 random(k_seed);
  std::vector<int> order;
  for (int i = 0; i < k_steps; ++i)
    order.push_back(std::uniform_int_distribution<int>(0, k_actors - 1)(random));
  return order;
}

Plan plan_with(const std::vector<int>& order) {
  std::vector<std::string> events;
  for (const int actor : order)
    events.push_back(actor_name(actor) + " step");
  Plan plan = in_order(events, {"free"});
  for (const PlannedPoint& point : serializing({"region"}).points)
    plan.points.push_back(point);
  plan.locks = {"lock"};
  return plan;
}

void play(Board& board, int number, int steps, Guarded& guarded) {
  const int actor = enter(board, actor_name(number)), lock = board.find_lock("lock");
  for (int i = 0; i < steps; ++i) {
    pass(board, actor, "step");
    pass(board, actor, "free");
    pass(board, actor, "region.enter");
    ++guarded.in_region;
    pass(board, actor, "region.exit");
    board.lock_wanted(actor, lock);
    pthread_mutex_lock(&guarded.lock);
    board.lock_taken(actor, lock);
    ++guarded.in_lock;
    board.lock_released(actor, lock);
    pthread_mutex_unlock(&guarded.lock);
    board.log_tokens(actor, k_tokens);
  }
  board.end_actor(actor);
}

// The actors first..last-1, each in a thread of this process.
void play_all(Board& board, int first, int last, const std::vector<int>& order, Guarded& guarded) {
  std::vector<std::thread> threads; // no Cast: it lets everybody go, and the other process may need longer
  for (int actor = first; actor < last; ++actor) {
    const auto steps = static_cast<int>(std::count(order.begin(), order.end(), actor));
    threads.emplace_back([&board, &guarded, actor, steps] { play(board, actor, steps, guarded); });
  }
  for (std::thread& thread : threads)
    thread.join();
}

void expect_everything_in_order(const Board& board, const std::vector<int>& order) {
  const auto picture = board.picture();
  EXPECT_EQ(picture.state, ScheduleState::complete);
  EXPECT_EQ(picture.log_lost, 0U);
  EXPECT_EQ(picture.recovered, 0U);
  EXPECT_EQ(picture.locks[0].holder, -1);
  ASSERT_EQ(picture.actors.size(), static_cast<std::size_t>(k_actors));
  for (const auto& actor : picture.actors)
    EXPECT_EQ(actor.state, ActorState::ended) << actor.name;

  std::vector<int> seen;
  std::map<std::pair<int, int>, std::uint32_t> hits; // by actor and point
  std::int64_t tokens = 0, time = 0;
  int inside = -1; // whose region it is
  for (const LogEntry& entry : board.log_from(0)) {
    EXPECT_GE(entry.time, time);
    time = entry.time;
    tokens += entry.kind == LogKind::tokens ? entry.value : 0;
    if (entry.kind != LogKind::pass)
      continue;
    EXPECT_EQ(entry.hit, ++hits[std::make_pair(entry.actor, entry.point)]);
    const std::string point = board.point_name(entry.point);
    if (point == "step") {
      EXPECT_EQ(entry.step, static_cast<int>(seen.size()));
      seen.push_back(std::stoi(picture.actors[static_cast<std::size_t>(entry.actor)].name.substr(1)));
    } else if (point == "region.enter") {
      EXPECT_EQ(inside, -1);
      inside = entry.actor;
    } else if (point == "region.exit") {
      EXPECT_EQ(inside, entry.actor);
      inside = -1;
    }
  }
  EXPECT_EQ(seen, order);
  EXPECT_EQ(tokens, k_steps * k_tokens);
  EXPECT_EQ(hits.size(), static_cast<std::size_t>(4 * k_actors));
}

TEST(Stress, EightThreadsOfOneProcessKeepOrderRegionsAndCounts) {
  const std::vector<int> order = seeded_order();
  const SharedGuarded guarded;
  Board board = Board::create(plan_with(order));
  play_all(board, 0, k_actors, order, *guarded);
  expect_everything_in_order(board, order);
  EXPECT_EQ((*guarded).in_region, k_steps);
  EXPECT_EQ((*guarded).in_lock, k_steps);
}

TEST(Stress, EightThreadsOfTwoProcessesKeepOrderRegionsAndCounts) {
  const std::vector<int> order = seeded_order();
  const SharedGuarded guarded;
  Board board = Board::create(plan_with(order));
  Child child(board, [&](Board& own) { play_all(own, k_actors / 2, k_actors, order, *guarded); });
  play_all(board, 0, k_actors / 2, order, *guarded);
  EXPECT_EQ(child.wait(), 0);
  expect_everything_in_order(board, order);
  EXPECT_EQ((*guarded).in_region, k_steps);
  EXPECT_EQ((*guarded).in_lock, k_steps);
}

} // namespace
} // namespace racelab::board::test

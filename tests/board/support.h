#pragma once
// Plans in few words, threads that play actors, and waiting for what a board shows.
#include "board/board.h"

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace racelab::board::test {

using Edges = std::vector<std::pair<int, int>>;

// Events are "ACTOR POINT" or "ACTOR POINT#n"; every point they name is declared, and `more_points`.
Plan plan_of(const std::vector<std::string>& events, const Edges& edges,
             const std::vector<std::string>& more_points = {});
// The events one after the other.
Plan in_order(const std::vector<std::string>& events, const std::vector<std::string>& more_points = {});
// R.enter and R.exit of each region, serialized.
Plan serializing(const std::vector<std::string>& regions);

int enter(Board& board, const std::string& name);
std::int64_t pass(Board& board, int actor, const std::string& point);

// The passes of the log: "a p#1".
std::vector<std::string> passes(const Board& board);
// The kinds of the log's entries that an actor has, in order.
std::vector<LogKind> log_kinds(const Board& board, int actor);

// Waits for a condition that another thread or process brings about; false if that takes half a minute.
template <class Condition> bool await(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    sched_yield();
  }
  return true;
}

bool await_parked(const Board& board, int actor);

// Threads that act on a board. Whoever is still parked when the test ends is let go.
class Cast {
public:
  explicit Cast(Board& board) : m_board(board) {}
  ~Cast();
  Cast(const Cast&) = delete;
  Cast& operator=(const Cast&) = delete;

  // Runs `part` in a new thread.
  void play(std::function<void()> part) { m_threads.emplace_back(std::move(part)); }
  // The actor passes the points, one after the other, in a new thread.
  void play(int actor, std::vector<std::string> points);
  void join();

private:
  Board& m_board;
  std::vector<std::thread> m_threads;
};

} // namespace racelab::board::test

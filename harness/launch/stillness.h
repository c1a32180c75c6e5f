#pragma once
// Decides when a trial has stopped moving: no thread runs, no CPU time, no event on the board, no output, no new
// process.
#include "board/board.h"
#include "launch/process_view.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace racelab::launch {

class Stillness {
public:
  explicit Stillness(std::chrono::milliseconds quiet_time) : m_quiet_time(quiet_time) { restart(); }

  // Looks at the process tree if it is time to. A view comes back while the tree has been still for the quiet time (ten
  // times that, and at least 3 s, while some thread sleeps in a call that ends by itself). `reaper`: see
  // view_tree.
  std::optional<TreeView> look(int pid, std::uint64_t events, std::uint64_t output, int reaper = 0);

  std::chrono::milliseconds still_for() const;
  void restart();

  // How long to wait between looks: 50 ms, more where looking itself is dear (many threads).
  std::chrono::milliseconds interval() const { return m_interval; }

private:
  using Clock = std::chrono::steady_clock;

  std::chrono::milliseconds m_quiet_time;
  std::chrono::milliseconds m_interval{50};
  Clock::time_point m_since, m_last_look;
  std::uint64_t m_events = 0, m_output = 0, m_cpu = 0;
  std::vector<int> m_pids;
};

// One sentence on who waits where, for a schedule that is given up because nothing moves.
std::string describe_stillness(const TreeView& view, const board::Board::Picture& picture, const board::Board& board);

} // namespace racelab::launch

#include "launch/stillness.h"

#include <algorithm>

namespace racelab::launch {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {
constexpr milliseconds k_base_interval{50};
constexpr milliseconds k_timed_wait_floor{3000};
// A thread that polls uses a little CPU time; up to one tick (10 ms) each 300 ms still counts as stillness.
constexpr std::int64_t k_ms_per_allowed_tick = 300;
} // namespace

void Stillness::restart() {
  m_since = m_last_look = Clock::now();
  m_cpu = 0;
  m_pids.clear();
}

milliseconds Stillness::still_for() const {
  return duration_cast<milliseconds>(Clock::now() - m_since);
}

std::optional<TreeView> Stillness::look(int pid, std::uint64_t events, std::uint64_t output, int reaper) {
  const auto now = Clock::now();
  if (events != m_events || output != m_output) {
    m_events = events;
    m_output = output;
    m_since = now;
  }
  if (now - m_last_look < m_interval) {
    return std::nullopt;
  }
  TreeView view = view_tree(pid, reaper);
  m_last_look = Clock::now();
  m_interval = std::max(k_base_interval, 20 * duration_cast<milliseconds>(m_last_look - now));

  const auto allowed = static_cast<std::uint64_t>(1 + still_for().count() / k_ms_per_allowed_tick);
  if (view.any_running() || view.pids != m_pids || view.cpu_ticks > m_cpu + allowed || view.cpu_ticks < m_cpu) {
    m_pids = view.pids;
    m_cpu = view.cpu_ticks;
    m_since = now;
    return std::nullopt;
  }
  const milliseconds needed = view.any_timed_wait() ? std::max(10 * m_quiet_time, k_timed_wait_floor) : m_quiet_time;
  return still_for() >= needed ? std::optional<TreeView>(std::move(view)) : std::nullopt;
}

std::string describe_stillness(const TreeView& view, const board::Board::Picture& picture, const board::Board& board) {
  std::string text;
  for (const auto& step : picture.steps) {
    if (step.done || step.actor < 0) {
      continue;
    }
    const auto& actor = picture.actors[static_cast<std::size_t>(step.actor)];
    if (actor.state == board::ActorState::parked) {
      continue;
    }
    const std::string event = actor.name + " " + board.point_name(step.point);
    if (actor.state == board::ActorState::expected) {
      return "no thread named '" + actor.name + "' has appeared, and everything else waits for " + event;
    }
    std::string doing = "does nothing";
    for (const ThreadView& thread : view.threads) {
      if (thread.tid == actor.tid) {
        doing = "is asleep" + (thread.waits_in.empty() ? std::string() : " in " + thread.waits_in + "()");
      }
    }
    if (actor.lock >= 0) {
      doing = "waits for " + picture.locks[static_cast<std::size_t>(actor.lock)].name;
    }
    text += (text.empty() ? "" : "; ") + event + " is awaited, but " + actor.name + " " + doing;
    break;
  }
  return text.empty() ? "nothing moves" : text;
}

} // namespace racelab::launch

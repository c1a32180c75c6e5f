// The wait-for graph of a board: who waits for whom, and whether that closes a cycle.
//
// Every wait here is for *all* of its targets (all open predecessors of a step, the one holder of a lock, the one owner
// of a region), so that any cycle is a deadlock: the classic AND-model of Knapp, "Deadlock detection in distributed
// databases" (ACM Computing Surveys 19(4), 1987).
#include "board/board.h"

#include <algorithm>

namespace racelab::board {

// The open steps that must be done before this one, the nearest first. Not only its direct predecessors: whoever waits
// for a step waits for all that comes before it, also where the actors between have not arrived yet.
std::vector<int> Board::open_steps_before(int step) const {
  const int count = steps();
  std::vector<int> found;
  if (!is_index(step, count)) {
    return found;
  }
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(count), 0);
  seen[step] = 1;
  for (bool more = true; more;) { // the edges of a list are in order: one sweep backwards finds all of them
    more = false;
    for (int i = edges() - 1; i >= 0; --i) {
      const EdgeSlot& e = memory().edges[i];
      if (!is_index(e.before, count) || !is_index(e.after, count)) {
        continue;
      }
      if (seen[e.after] && !seen[e.before] && !memory().steps[e.before].done) {
        seen[e.before] = 1;
        found.push_back(e.before);
        more = true;
      }
    }
  }
  return found;
}

std::vector<WaitEdge> Board::waits_of(int actor) const {
  const Header& h = memory().header;
  const ActorSlot& a = memory().actors[actor];
  std::vector<WaitEdge> waits;
  if (a.state == ActorState::wanting && is_index(a.lock, locks())) {
    const int holder = memory().locks[a.lock].holder;
    if (is_actor(holder) && holder != actor) {
      waits.push_back({actor, holder, -1, -1, a.lock, WaitKind::for_lock});
    }
  } else if (a.state == ActorState::parked && a.step >= 0) {
    for (const int step : open_steps_before(a.step)) {
      if (const int other = memory().steps[step].actor; is_actor(other)) {
        waits.push_back({actor, other, a.point, step, -1, WaitKind::for_event});
      }
    }
  } else if (a.state == ActorState::parked && is_actor(h.region_owner)) {
    waits.push_back({actor, h.region_owner, a.point, -1, -1, WaitKind::for_region});
  }
  return waits;
}

bool Board::walk_waits(int actor, std::vector<WaitEdge>& path, std::vector<std::uint8_t>& visited, int start) const {
  for (const WaitEdge& wait : waits_of(actor)) {
    if (static_cast<int>(path.size()) + 1 > k_max_wait_chain) {
      return false;
    }
    path.push_back(wait);
    if (wait.other == start) {
      return true;
    }
    if (!visited[wait.other]) {
      visited[wait.other] = 1;
      if (walk_waits(wait.other, path, visited, start)) {
        return true;
      }
    }
    path.pop_back();
  }
  return false;
}

// A step of the cycle whose own actor is parked at another one has been overtaken: that actor has come there without
// passing it. The earliest one that it has left out so says most. -1: there is none (the plan's edges make a circle
// themselves).
int Board::overtaken_step(const std::vector<WaitEdge>& cycle) const {
  for (const WaitEdge& wait : cycle) {
    const int parked_for = memory().actors[wait.other].step;
    if (parked_for == wait.step) {
      continue;
    }
    int earliest = wait.step;
    for (const int step : open_steps_before(parked_for)) {
      if (memory().steps[step].actor == wait.other && step < earliest) {
        earliest = step;
      }
    }
    return earliest;
  }
  return -1;
}

// `start` has just begun to wait, so that any new cycle goes through it.
void Board::detect_cycle(int start) {
  Header& h = memory().header;
  const ActorSlot& a = memory().actors[start];
  const bool may_wait_for_itself = a.step >= 0 && !(h.edges_go_forward && a.first_step == a.step);
  if (h.let_go || (h.waiting < 2 && !may_wait_for_itself)) {
    return;
  }
  std::vector<WaitEdge> path;
  std::vector<std::uint8_t> visited(static_cast<std::size_t>(actors()), 0);
  if (!walk_waits(start, path, visited, start)) {
    return;
  }
  h.chain_length = static_cast<int>(path.size());
  std::copy(path.begin(), path.end(), h.chain.begin());
  const auto count = [&](WaitKind kind) {
    return std::count_if(path.begin(), path.end(), [&](const WaitEdge& w) { return w.kind == kind; });
  };
  if (count(WaitKind::for_event) == h.chain_length) {
    // Only events wait for events: an actor has come to a later step of its own without passing an earlier one.
    h.stuck_step = overtaken_step(path);
    give_up_locked(ScheduleState::unreachable);
  } else if (count(WaitKind::for_lock) < h.chain_length) {
    give_up_locked(ScheduleState::impossible);
  }
  // A cycle of known locks alone is the program's own deadlock: nothing we could let go would end it. The chain stays
  // on the board for the watcher.
}

} // namespace racelab::board

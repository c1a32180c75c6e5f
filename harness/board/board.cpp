// The protocol proper: passing points, steps, regions, locks. Creation and reading are in memory.cpp, cycles in
// waits.cpp.
#include "board/board.h"

#include "base/assert.h"
#include "board/clock.h"
#include "board/futex.h"

#include <cerrno>
#include <cstring>

namespace racelab::board {

void Board::lock() const {
  const int rc = pthread_mutex_lock(&memory().header.mutex);
  if (rc == EOWNERDEAD) {
    // Every update below leaves the board usable at each point between two stores, so that it can simply be taken over;
    // the dead process's actors are ended by end_process().
    pthread_mutex_consistent(&memory().header.mutex);
    ++memory().header.recovered;
    return;
  }
  RACELAB_ASSERT(rc == 0);
}

void Board::unlock() const {
  const int rc = pthread_mutex_unlock(&memory().header.mutex);
  RACELAB_ASSERT(rc == 0);
}

std::int64_t Board::append(LogKind kind, int actor, int point, int step, std::uint32_t hit, std::int64_t value) {
  Header& h = memory().header;
  const std::uint32_t n = h.log_count.load(std::memory_order_relaxed);
  if (n >= k_log_capacity) {
    h.log_lost.fetch_add(1, std::memory_order_relaxed);
    return -1;
  }
  memory().log[n] = LogEntry{now_ns(), value, actor, point, step, hit, kind};
  h.log_count.store(n + 1, std::memory_order_release);
  return n;
}

int Board::enter_actor(std::string_view name, int pid, int tid, std::uint64_t ident) {
  lock();
  Header& h = memory().header;
  std::string chosen(name.substr(0, k_name_size - 1));
  const std::string wanted = chosen.substr(0, k_name_size - 8); // room for an ordinal
  int slot = -1;
  for (int ordinal = 2; slot < 0; ++ordinal) {
    int found = -1;
    for (int i = 0; i < h.actors; ++i) {
      if (chosen == memory().actors[i].name.data()) {
        found = i;
        break;
      }
    }
    if (found < 0) {
      if (h.actors == k_max_actors) {
        ++h.actors_lost;
        unlock();
        return -1;
      }
      slot = h.actors++;
    } else if (memory().actors[found].state == ActorState::expected) {
      slot = found;
    } else {
      chosen = wanted + "@" + std::to_string(ordinal);
    }
  }
  ActorSlot& a = memory().actors[slot];
  std::strncpy(a.name.data(), chosen.c_str(), k_name_size - 1);
  a.pid = pid;
  a.tid = tid;
  a.ident = ident;
  a.point = a.step = a.lock = -1;
  a.state = ActorState::running;
  append(LogKind::actor_start, slot, -1, -1, 0, 0);
  unlock();
  return slot;
}

void Board::end_actor(int actor) {
  lock();
  end_actor_locked(actor);
  unlock();
}

void Board::end_process(int pid) {
  lock();
  for (int i = 0; i < memory().header.actors; ++i) {
    if (memory().actors[i].pid == pid) {
      end_actor_locked(i);
    }
  }
  unlock();
}

void Board::end_actor_locked(int actor) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  if (a.state == ActorState::ended || a.state == ActorState::expected || a.state == ActorState::unused) {
    return;
  }
  a.state = ActorState::ended;
  append(LogKind::actor_end, actor, -1, -1, 0, 0);
  for (int i = 0; i < h.locks; ++i) {
    if (memory().locks[i].holder == actor) {
      memory().locks[i].holder = -1; // a dead process holds nothing in the others; a live one should have released it
      memory().locks[i].depth = 0;
    }
  }
  if (h.region_owner == actor) {
    h.region_depth = 0;
    hand_over_region();
  }
  if (h.state != ScheduleState::open) {
    return;
  }
  for (int i = 0; i < h.steps; ++i) {
    if (memory().steps[i].actor == actor && !memory().steps[i].done) {
      h.stuck_step = i;
      give_up_locked(ScheduleState::unreachable);
      return;
    }
  }
}

int Board::match_step(int actor, int point, std::uint32_t hit) const {
  const Header& h = memory().header;
  if (h.let_go || h.state != ScheduleState::open) {
    return -1;
  }
  for (int i = 0; i < h.steps; ++i) {
    const StepSlot& s = memory().steps[i];
    if (!s.done && s.actor == actor && s.point == point && (s.hit == 0 || s.hit == hit)) {
      return i;
    }
  }
  return -1;
}

bool Board::is_ready(int step) const {
  const Header& h = memory().header;
  for (int i = 0; i < h.edges; ++i) {
    const EdgeSlot& e = memory().edges[i];
    if (e.after == step && !memory().steps[e.before].done) {
      return false;
    }
  }
  return true;
}

void Board::grant(int actor) {
  ActorSlot& a = memory().actors[actor];
  a.granted = 1;
  a.state = ActorState::running;
  futex_change_and_wake(a.wake);
}

void Board::grant_ready_steps(int completed) {
  Header& h = memory().header;
  for (int i = 0; i < h.edges; ++i) {
    const EdgeSlot& e = memory().edges[i];
    if (e.before != completed || memory().steps[e.after].done || !is_ready(e.after)) {
      continue;
    }
    const int actor = memory().steps[e.after].actor;
    const ActorSlot& a = memory().actors[actor];
    if (a.state == ActorState::parked && a.step == e.after) {
      grant(actor);
    }
  }
}

void Board::complete_step(int step, std::int64_t log_index) {
  Header& h = memory().header;
  memory().steps[step].log_index = log_index < 0 ? 0 : static_cast<std::uint64_t>(log_index);
  memory().steps[step].done = 1;
  grant_ready_steps(step);
  for (int i = 0; i < h.steps; ++i) {
    if (!memory().steps[i].done) {
      return;
    }
  }
  h.state = ScheduleState::complete;
}

bool Board::may_enter_region(int actor) const {
  const Header& h = memory().header;
  return h.let_go || h.region_owner < 0 || h.region_owner == actor;
}

void Board::leave_region(int actor) {
  Header& h = memory().header;
  if (h.region_owner == actor && --h.region_depth == 0) {
    hand_over_region();
  }
}

void Board::hand_over_region() {
  Header& h = memory().header;
  h.region_owner = -1;
  int first = -1;
  for (int i = 0; i < h.actors; ++i) {
    const ActorSlot& a = memory().actors[i];
    if (a.state == ActorState::parked && a.step < 0 &&
        (first < 0 || a.park_number < memory().actors[first].park_number)) {
      first = i;
    }
  }
  if (first >= 0) {
    h.region_owner = first; // handed over before it wakes, so that nobody slips in between
    h.region_depth = 0;
    grant(first);
  }
}

// Waits for the actor's turn and returns how long that took, in ns. The mutex is let go meanwhile.
std::int64_t Board::park(int actor, int point, int step, std::uint32_t hit) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  a.point = point;
  a.step = step;
  a.granted = 0;
  a.parked_since = now_ns();
  a.park_number = h.next_park_number++;
  a.state = ActorState::parked;
  append(LogKind::parked, actor, point, step, hit, 0);
  detect_cycle(actor);
  while (!a.granted) {
    const std::uint32_t seen = a.wake.load(std::memory_order_acquire);
    const int spin = h.spin;
    unlock();
    futex_wait_changed(a.wake, seen, spin);
    lock();
  }
  const std::int64_t waited = now_ns() - a.parked_since;
  a.waited += waited;
  a.state = ActorState::running;
  a.point = a.step = -1;
  return waited;
}

std::int64_t Board::pass(int actor, int point) {
  lock();
  Header& h = memory().header;
  const PointSlot& p = memory().points[point];
  const std::uint32_t hit = ++memory().hits[actor][point];
  const int step = match_step(actor, point, hit);
  const bool enters = p.serialized && p.kind == PointKind::enter;
  const bool must_wait = (step >= 0 && !is_ready(step)) || (enters && !may_enter_region(actor));
  const std::int64_t waited = must_wait ? park(actor, point, step, hit) : 0;

  if (enters && !h.let_go) {
    h.region_owner = actor;
    ++h.region_depth;
  }
  const bool counts = step >= 0 && h.state == ScheduleState::open && !h.let_go;
  const std::int64_t index = append(LogKind::pass, actor, point, counts ? step : -1, hit, waited);
  if (counts) {
    complete_step(step, index);
  }
  if (p.serialized && p.kind == PointKind::exit) {
    leave_region(actor);
  }
  unlock();
  return index;
}

void Board::lock_wanted(int actor, int lock_id) {
  lock();
  const LockSlot& l = memory().locks[lock_id];
  if (l.holder != actor) {
    ActorSlot& a = memory().actors[actor];
    a.lock = lock_id;
    a.state = ActorState::wanting;
    detect_cycle(actor);
  }
  unlock();
}

void Board::lock_taken(int actor, int lock_id) {
  lock();
  LockSlot& l = memory().locks[lock_id];
  ActorSlot& a = memory().actors[actor];
  a.lock = -1;
  a.state = ActorState::running;
  l.depth = l.holder == actor ? l.depth + 1 : 1;
  l.holder = actor;
  unlock();
}

void Board::lock_not_taken(int actor) {
  lock();
  ActorSlot& a = memory().actors[actor];
  a.lock = -1;
  a.state = ActorState::running;
  unlock();
}

void Board::lock_released(int actor, int lock_id) {
  lock();
  LockSlot& l = memory().locks[lock_id];
  if (l.holder == actor && --l.depth == 0) {
    l.holder = -1;
  }
  unlock();
}

void Board::log_tokens(int actor, std::int64_t count) {
  lock();
  append(LogKind::tokens, actor, -1, -1, 0, count);
  unlock();
}

bool Board::give_up(ScheduleState why) {
  lock();
  const bool was_open = memory().header.state == ScheduleState::open && !memory().header.let_go;
  if (was_open) {
    give_up_locked(why);
  }
  unlock();
  return was_open;
}

void Board::give_up_locked(ScheduleState why) {
  Header& h = memory().header;
  h.state = why;
  h.let_go = 1;
  append(LogKind::given_up, -1, -1, h.stuck_step, 0, static_cast<std::int64_t>(why));
  for (int i = 0; i < h.actors; ++i) {
    const ActorSlot& a = memory().actors[i];
    if (a.state == ActorState::parked) {
      append(LogKind::released, i, a.point, a.step, 0, 0);
      grant(i);
    }
  }
}

int Board::agent_attached() {
  lock();
  const auto number = static_cast<int>(memory().header.attached++);
  unlock();
  return number;
}

} // namespace racelab::board

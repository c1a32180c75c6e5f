// The protocol proper: passing points, steps, regions, locks. Creation and reading are in memory.cpp, cycles in
// waits.cpp.
#include "board/board.h"

#include "base/assert.h"
#include "board/clock.h"
#include "board/futex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>

namespace racelab::board {

namespace {

// The mutex is held for a fraction of a microsecond; who finds it taken looks again for about two before it sleeps.
constexpr int k_lock_looks = 40;

} // namespace

void Board::lock() const {
  pthread_mutex_t& mutex = memory().header.mutex;
  int rc = pthread_mutex_trylock(&mutex);
  for (int i = 0; rc == EBUSY && i < k_lock_looks && memory().header.may_spin; ++i) {
    cpu_relax();
    rc = pthread_mutex_trylock(&mutex);
  }
  if (rc == EBUSY) {
    rc = pthread_mutex_lock(&mutex);
  }
  if (rc == EOWNERDEAD) {
    pthread_mutex_consistent(&mutex);
    recover();
    return;
  }
  RACELAB_ASSERT(rc == 0);
}

void Board::unlock() const {
  constexpr int k_most = 8;
  Header& h = memory().header;
  std::array<int, k_most> sleepers{};
  int count = 0;
  for (; h.first_to_wake >= 0; h.first_to_wake = memory().actors[h.first_to_wake].next_to_wake) {
    if (count < k_most) {
      sleepers[count++] = h.first_to_wake;
    } else { // nobody waits for it alone
      wake_sleeper(memory().actors[h.first_to_wake].wake);
    }
  }
  const int rc = pthread_mutex_unlock(&h.mutex);
  RACELAB_ASSERT(rc == 0);
  for (int i = 0; i < count; ++i) {
    wake_sleeper(memory().actors[sleepers[i]].wake);
  }
}

// A process died holding the mutex. Which steps are done, who is parked and where, who has the region: that is right
// between any two stores. What follows from it is made anew: the counts, and the grants that the process did not come
// to.
void Board::recover() const {
  Header& h = memory().header;
  ++h.recovered;
  count_open();
  if (h.state == ScheduleState::open && h.steps > 0 && h.open_steps == 0) {
    h.state = ScheduleState::complete;
  }
  h.first_to_wake = -1;
  for (int i = 0; i < h.actors; ++i) {
    const ActorSlot& a = memory().actors[i];
    const bool may_go = h.let_go || (a.step >= 0 ? is_ready(a.step) : h.region_owner == i);
    if (a.state == ActorState::parked && may_go) {
      grant(i);
    }
  }
  wake_granted();
}

void Board::count_open() const {
  Memory& m = memory();
  Header& h = m.header;
  const auto is_waiting = [](const ActorSlot& a) {
    return a.state == ActorState::parked || a.state == ActorState::wanting;
  };
  h.waiting = static_cast<std::int32_t>(std::count_if(m.actors.begin(), m.actors.begin() + h.actors, is_waiting));
  h.open_steps = 0;
  for (int i = 0; i < h.steps; ++i) {
    m.steps[i].open_before = 0;
    if (!m.steps[i].done) {
      ++h.open_steps;
    }
  }
  for (int i = 0; i < h.edges; ++i) {
    if (!m.steps[m.edges[i].before].done) {
      ++m.steps[m.edges[i].after].open_before;
    }
  }
}

// Calls everybody whose turn has come: who granted it may have died before it did so. Those who are awake do not
// notice.
void Board::wake_granted() const {
  for (int i = 0; i < memory().header.actors; ++i) {
    ActorSlot& a = memory().actors[i];
    if (a.wake.load(std::memory_order_acquire) == Wake::granted) {
      wake_sleeper(a.wake);
    }
  }
}

std::int64_t Board::append(const LogEntry& entry) {
  Header& h = memory().header;
  const std::uint32_t n = h.log_count.load(std::memory_order_relaxed);
  if (n >= k_log_capacity) {
    h.log_lost.fetch_add(1, std::memory_order_relaxed);
    return -1;
  }
  h.last_time = std::max(entry.time, h.last_time); // the clock was read before the mutex was had
  memory().log[n] = entry;
  memory().log[n].time = h.last_time;
  h.log_count.store(n + 1, std::memory_order_release);
  return n;
}

void Board::set_state(int actor, ActorState state) const {
  const auto waits = [](ActorState s) { return s == ActorState::parked || s == ActorState::wanting ? 1 : 0; };
  ActorSlot& a = memory().actors[actor];
  memory().header.waiting += waits(state) - waits(a.state);
  a.state = state;
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
  a.point = a.step = a.lock = a.woken_by_core = -1;
  if (a.state == ActorState::unused) {
    a.first_step = -1;
  }
  set_state(slot, ActorState::running);
  append({now_ns(), 0, slot, -1, -1, 0, LogKind::actor_start});
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
  wake_granted();
  unlock();
}

void Board::end_actor_locked(int actor) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  if (a.state == ActorState::ended || a.state == ActorState::expected || a.state == ActorState::unused) {
    return;
  }
  set_state(actor, ActorState::ended);
  append({now_ns(), 0, actor, -1, -1, 0, LogKind::actor_end});
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

int Board::match_step(int actor, int point, std::uint32_t hit) {
  const Header& h = memory().header;
  if (!memory().points[point].has_steps || h.let_go) {
    return -1;
  }
  ActorSlot& a = memory().actors[actor];
  while (a.first_step >= 0 && memory().steps[a.first_step].done) {
    a.first_step = memory().steps[a.first_step].next_of_actor;
  }
  for (int i = a.first_step; i >= 0; i = memory().steps[i].next_of_actor) {
    const StepSlot& s = memory().steps[i];
    if (!s.done && s.point == point && (s.hit == 0 || s.hit == hit)) {
      return i;
    }
  }
  return -1;
}

void Board::grant(int actor) const {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  a.woken_by_core = sched_getcpu();
  const Wake before = a.wake.exchange(Wake::granted, std::memory_order_acq_rel);
  set_state(actor, ActorState::running); // only now, so that recover() sees who has not been granted
  if (before == Wake::sleeping) {
    a.next_to_wake = h.first_to_wake;
    h.first_to_wake = actor;
  }
}

// The last thing that happens to a step: its actor may be looking for it on another core.
void Board::mark_ready_by_one(int step) {
  StepSlot& s = memory().steps[step];
  const std::uint32_t open = s.open_before.load(std::memory_order_relaxed) - 1;
  if (open == 0 && memory().header.waiting > 0) {
    const ActorSlot& a = memory().actors[s.actor];
    if (a.state == ActorState::parked && a.step == step) {
      grant(s.actor);
    }
  }
  s.open_before.store(open, std::memory_order_release);
}

void Board::complete_step(int step, std::int64_t log_index) {
  Header& h = memory().header;
  StepSlot& s = memory().steps[step];
  s.log_index = log_index < 0 ? 0 : static_cast<std::uint64_t>(log_index);
  s.done = 1;
  if (--h.open_steps == 0) {
    h.state = ScheduleState::complete;
  }
  for (int i = s.edges; i < s.edges_end; ++i) {
    mark_ready_by_one(memory().edges[i].after);
  }
}

bool Board::may_enter_region(int actor) const {
  const Header& h = memory().header;
  const int owner = h.region_owner.load(std::memory_order_acquire);
  return h.let_go || owner < 0 || owner == actor;
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

// Who comes a moment too early looks for its turn before it parks: most hand-overs to another core then need neither a
// system call nor the mutex twice. It does not help where the turn last came from the very core that this thread is on.
std::int64_t Board::look_for_turn(int actor, int step, bool enters) const {
  const Header& h = memory().header;
  if (h.may_spin && memory().actors[actor].woken_by_core != sched_getcpu()) {
    return spin_until([&] { return may_pass(actor, step, enters); });
  }
  return now_ns();
}

// Sleeps until the actor's turn has come. The mutex is let go meanwhile.
void Board::park(int actor, int point, int step, std::uint32_t hit) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  a.point = point;
  a.step = step;
  a.wake.store(Wake::waiting, std::memory_order_relaxed);
  a.parked_since = now_ns();
  a.park_number = h.next_park_number++;
  set_state(actor, ActorState::parked);
  append({a.parked_since, 0, actor, point, step, hit, LogKind::parked});
  detect_cycle(actor);
  unlock();
  sleep_until_granted(a.wake);
  lock();
  a.point = a.step = -1;
}

std::int64_t Board::pass(int actor, int point) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  const PointSlot& p = memory().points[point];
  const std::uint32_t hit = memory().hits[actor][point].load(std::memory_order_relaxed) + 1;
  memory().hits[actor][point].store(hit, std::memory_order_relaxed);
  int step = match_step(actor, point, hit);
  const bool enters = p.serialized && p.kind == PointKind::enter;
  const bool is_early = !may_pass(actor, step, enters);
  const std::int64_t arrived = now_ns();
  std::int64_t now = is_early ? look_for_turn(actor, step, enters) : arrived;
  lock();
  if (h.let_go) {
    step = -1;
  }
  if (!may_pass(actor, step, enters)) {
    park(actor, point, step, hit);
    now = now_ns();
  }
  const std::int64_t waited = is_early ? now - arrived : 0;
  a.waited += waited;

  if (enters && !h.let_go) {
    h.region_owner = actor;
    ++h.region_depth;
  }
  const bool counts = step >= 0 && h.state == ScheduleState::open && !h.let_go;
  const std::int64_t index = append({now, waited, actor, point, counts ? step : -1, hit, LogKind::pass});
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
    set_state(actor, ActorState::wanting);
    detect_cycle(actor);
  }
  unlock();
}

void Board::lock_taken(int actor, int lock_id) {
  lock();
  LockSlot& l = memory().locks[lock_id];
  ActorSlot& a = memory().actors[actor];
  a.lock = -1;
  set_state(actor, ActorState::running);
  l.depth = l.holder == actor ? l.depth + 1 : 1;
  l.holder = actor;
  unlock();
}

void Board::lock_not_taken(int actor) {
  lock();
  ActorSlot& a = memory().actors[actor];
  a.lock = -1;
  set_state(actor, ActorState::running);
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
  append({now_ns(), count, actor, -1, -1, 0, LogKind::tokens});
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
  append({now_ns(), static_cast<std::int64_t>(why), -1, -1, h.stuck_step, 0, LogKind::given_up});
  for (int i = 0; i < h.actors; ++i) {
    const ActorSlot& a = memory().actors[i];
    if (a.state == ActorState::parked) {
      append({now_ns(), 0, i, a.point, a.step, 0, LogKind::released});
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

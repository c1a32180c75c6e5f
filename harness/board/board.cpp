// The protocol proper: passing points, steps, regions, locks. Looking for a turn is in turns.cpp, creation and reading
// are in memory.cpp, cycles in
// waits.cpp.
#include "board/board.h"

#include "base/assert.h"
#include "board/clock.h"
#include "board/futex.h"
#include "board/mutex.h"
#include "board/sums.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sched.h>

namespace racelab::board {

bool Board::lock() const {
  if (is_broken()) {
    return false;
  }
  const int rc = lock_mutex(memory().header.mutex, memory().header.may_spin != 0, m_patience);
  if (rc == EOWNERDEAD) {
    pthread_mutex_consistent(&memory().header.mutex);
    recover();
    return true;
  }
  if (rc != 0 && !m_broken.exchange(true)) {
    for (int i = 0; i < actors(); ++i) { // the parked ones find it broken, too
      memory().actors[i].wake.exchange(Wake::granted, std::memory_order_acq_rel);
      wake_sleeper(memory().actors[i].wake);
    }
  }
  return rc == 0;
}

void Board::unlock() const {
  constexpr int k_most = 8;
  Header& h = memory().header;
  std::array<int, k_most> sleepers{};
  int count = 0;
  for (int i = 0, actor = h.first_to_wake; i < k_max_actors && is_actor(actor); ++i) {
    if (count < k_most) {
      sleepers[count++] = actor;
    } else { // nobody waits for it alone
      wake_sleeper(memory().actors[actor].wake);
    }
    actor = h.first_to_wake = memory().actors[actor].next_to_wake;
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
  finish_arrivals();
  count_open();
  if (h.state == ScheduleState::open && h.steps > 0 && h.open_steps == 0) {
    h.state = ScheduleState::complete;
  }
  h.first_to_wake = -1;
  for (int i = 0; i < actors(); ++i) {
    const ActorSlot& a = memory().actors[i];
    const bool may_go = h.let_go || (is_index(a.step, steps()) ? is_ready(a.step) : h.region_owner == i);
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
  h.waiting = static_cast<std::int32_t>(std::count_if(m.actors.begin(), m.actors.begin() + actors(), is_waiting));
  h.open_steps = 0;
  for (int i = 0; i < steps(); ++i) {
    m.steps[i].open_before = 0;
    if (!m.steps[i].done) {
      ++h.open_steps;
    }
  }
  for (int i = 0; i < edges(); ++i) {
    const EdgeSlot& e = m.edges[i];
    if (is_index(e.before, steps()) && is_index(e.after, steps()) && !m.steps[e.before].done) {
      ++m.steps[e.after].open_before;
    }
  }
}

// An event that was logged last has happened, though its step may be open still; and an actor whose step was passed for
// it has to be told.
void Board::finish_arrivals() const {
  Memory& m = memory();
  if (const std::uint32_t count = log_count(); count > 0) {
    const LogEntry& last = m.log[count - 1];
    if (last.kind == LogKind::pass && is_index(last.step, steps()) && !m.steps[last.step].done) {
      m.steps[last.step].log_index = count - 1;
      m.steps[last.step].done = 1;
    }
  }
  for (int i = 0; i < actors(); ++i) {
    ArrivalSlot& r = m.arrivals[i];
    if (r.word.load(std::memory_order_acquire) == Arrival::announced && is_index(r.step, steps()) &&
        m.steps[r.step].actor == i && m.steps[r.step].done) {
      r.log_index = static_cast<std::int64_t>(m.steps[r.step].log_index);
      r.word.store(Arrival::passed, std::memory_order_release);
    }
  }
}

// Calls everybody whose turn has come: who granted it may have died before it did so. Those who are awake do not
// notice.
void Board::wake_granted() const {
  for (int i = 0; i < actors(); ++i) {
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
  std::int32_t& waiting = memory().header.waiting;
  waiting = wrapped_sum(waiting, waits(state) - waits(a.state));
  a.state = state;
}

int Board::enter_actor(std::string_view name, int pid, int tid, std::uint64_t ident) {
  if (!lock()) {
    return -1;
  }
  Header& h = memory().header;
  std::string chosen(name.substr(0, k_name_size - 1));
  const std::string wanted = chosen.substr(0, k_name_size - 8); // room for an ordinal
  int slot = -1;
  for (int ordinal = 2; slot < 0; ++ordinal) {
    int found = -1;
    for (int i = 0; i < actors(); ++i) {
      if (chosen == text_of(memory().actors[i].name)) {
        found = i;
        break;
      }
    }
    if (found < 0) {
      slot = actors();
      if (slot == k_max_actors) {
        ++h.actors_lost;
        unlock();
        return -1;
      }
      h.actors = slot + 1;
    } else if (memory().actors[found].state == ActorState::expected) {
      slot = found;
    } else {
      chosen = wanted + "@" + std::to_string(ordinal);
    }
  }
  ActorSlot& a = memory().actors[slot];
  std::strncpy(a.name.data(), chosen.c_str(), k_name_size); // at most k_name_size - 1 characters: zeros to the end
  a.pid = pid;
  a.tid = tid;
  a.ident = ident;
  a.point = a.step = a.lock = a.woken_by_core = -1;
  if (a.state == ActorState::unused) {
    a.first_step = -1;
  }
  take_back(slot);
  set_state(slot, ActorState::running);
  append({now_ns(), 0, slot, -1, -1, 0, LogKind::actor_start});
  unlock();
  return slot;
}

void Board::end_actor(int actor) {
  if (!lock()) {
    return;
  }
  if (is_actor(actor)) {
    end_actor_locked(actor);
  }
  unlock();
}

void Board::end_process(int pid) {
  if (!lock()) {
    return;
  }
  for (int i = 0; i < actors(); ++i) {
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
  take_back(actor); // nobody need wait for it
  append({now_ns(), 0, actor, -1, -1, 0, LogKind::actor_end});
  for (int i = 0; i < locks(); ++i) {
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
  for (int i = 0; i < steps(); ++i) {
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
  const int count = steps();
  const auto next_of = [&](int step) { // steps of an actor are in the plan's order
    const int next = memory().steps[step].next_of_actor;
    return next > step ? index_or_none(next, count) : -1;
  };
  ActorSlot& a = memory().actors[actor];
  int first = index_or_none(a.first_step, count);
  while (first >= 0 && memory().steps[first].done) {
    first = next_of(first);
  }
  a.first_step = first;
  for (int i = first; i >= 0; i = next_of(i)) {
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
void Board::mark_ready_by_one(int step, std::int64_t now) {
  StepSlot& s = memory().steps[step];
  const std::uint32_t open = s.open_before.load(std::memory_order_relaxed) - 1;
  const int actor = s.actor;
  if (open == 0 && is_actor(actor)) {
    const ActorSlot& a = memory().actors[actor];
    if (memory().header.waiting > 0 && a.state == ActorState::parked && a.step == step) {
      grant(actor);
    } else if (may_pass_for(actor, step)) {
      pass_for(actor, step, now);
      return;
    }
  }
  s.open_before.store(open, std::memory_order_release);
}

void Board::complete_step(int step, std::int64_t log_index, std::int64_t now) {
  Header& h = memory().header;
  StepSlot& s = memory().steps[step];
  s.log_index = log_index < 0 ? 0 : static_cast<std::uint64_t>(log_index);
  s.done = 1;
  h.open_steps = wrapped_sum(h.open_steps, -1);
  if (h.open_steps == 0) {
    h.state = ScheduleState::complete;
  }
  const int end = clamped(s.edges_end, edges());
  for (int i = std::max(s.edges, 0); i < end; ++i) {
    if (const int after = memory().edges[i].after; is_index(after, steps())) {
      mark_ready_by_one(after, now);
    }
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
  for (int i = 0; i < actors(); ++i) {
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

// Sleeps until the actor's turn has come. The mutex is let go meanwhile. False if the board broke: then it is not held.
bool Board::park(int actor, int point, int step, std::uint32_t hit) {
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  a.point = point;
  a.step = step;
  a.wake.exchange(Wake::waiting, std::memory_order_acq_rel);
  a.parked_since = now_ns();
  a.park_number = h.next_park_number++;
  set_state(actor, ActorState::parked);
  append({a.parked_since, 0, actor, point, step, hit, LogKind::parked});
  detect_cycle(actor);
  for (;;) {
    unlock();
    if (!is_broken()) {
      sleep_until_granted(a.wake);
    }
    if (!lock()) {
      return false;
    }
    if (a.state != ActorState::parked) {
      break;
    }
    a.wake.exchange(Wake::waiting, std::memory_order_acq_rel); // called by a process for which the board broke
  }
  a.point = a.step = -1;
  return true;
}

std::int64_t Board::pass(int actor, int point) {
  if (is_broken() || !is_index(actor, k_max_actors) || !is_index(point, points())) { // the rest needs the mutex
    return -1;
  }
  Header& h = memory().header;
  ActorSlot& a = memory().actors[actor];
  const PointSlot& p = memory().points[point];
  const std::uint32_t hit = memory().hits[actor][point].load(std::memory_order_relaxed) + 1;
  memory().hits[actor][point].store(hit, std::memory_order_relaxed);
  int step = match_step(actor, point, hit);
  const bool enters = p.serialized && p.kind == PointKind::enter;
  const bool is_early = !may_pass(actor, step, enters) || (step >= 0 && comes_too_soon(step));
  const std::int64_t arrived = now_ns();
  std::int64_t now = arrived;
  const bool announced = is_early && step >= 0 && !p.serialized && h.may_spin;
  if (announced) {
    announce(actor, step, hit, arrived);
  }
  if (is_early) {
    now = look_for_turn(actor, step, enters);
    if (announced && was_passed(actor)) {
      return leave_passed(actor, step);
    }
  }
  if (!lock_for_turn(step, now)) {
    take_back(actor);
    return -1;
  }
  if (announced && was_passed(actor)) {
    unlock();
    return leave_passed(actor, step);
  }
  if (announced) {
    take_back(actor);
  }
  if (!is_actor(actor)) {
    unlock();
    return -1;
  }
  if (h.let_go) {
    step = -1;
  }
  if (!may_pass(actor, step, enters)) {
    if (!park(actor, point, step, hit)) {
      return -1;
    }
    now = now_ns();
  }
  const std::int64_t waited = is_early ? now - arrived : 0;
  a.waited = clamped_sum(a.waited, waited);

  if (enters && !h.let_go) {
    h.region_owner = actor;
    ++h.region_depth;
  }
  const bool counts = step >= 0 && h.state == ScheduleState::open && !h.let_go;
  const std::int64_t index = append({now, waited, actor, point, counts ? step : -1, hit, LogKind::pass});
  if (counts) {
    complete_step(step, index, now);
  }
  if (p.serialized && p.kind == PointKind::exit) {
    leave_region(actor);
  }
  unlock();
  return index;
}

void Board::lock_wanted(int actor, int lock_id) {
  if (!lock()) {
    return;
  }
  if (is_actor(actor) && is_index(lock_id, locks()) && memory().locks[lock_id].holder != actor) {
    memory().actors[actor].lock = lock_id;
    set_state(actor, ActorState::wanting);
    detect_cycle(actor);
  }
  unlock();
}

void Board::lock_taken(int actor, int lock_id) {
  if (!lock()) {
    return;
  }
  if (is_actor(actor) && is_index(lock_id, locks())) {
    LockSlot& l = memory().locks[lock_id];
    memory().actors[actor].lock = -1;
    set_state(actor, ActorState::running);
    l.depth = l.holder == actor ? l.depth + 1 : 1;
    l.holder = actor;
  }
  unlock();
}

void Board::lock_not_taken(int actor) {
  if (!lock()) {
    return;
  }
  if (is_actor(actor)) {
    memory().actors[actor].lock = -1;
    set_state(actor, ActorState::running);
  }
  unlock();
}

void Board::lock_released(int actor, int lock_id) {
  if (!lock()) {
    return;
  }
  if (is_actor(actor) && is_index(lock_id, locks())) {
    LockSlot& l = memory().locks[lock_id];
    if (l.holder == actor && --l.depth == 0) {
      l.holder = -1;
    }
  }
  unlock();
}

bool Board::kills(std::int64_t log_index) const {
  if (log_index < 0 || log_index >= log_count()) {
    return false;
  }
  const int step = memory().log[log_index].step;
  return is_index(step, steps()) && memory().steps[step].kills != 0;
}

bool Board::takes_removal(int actor, int point) {
  Header& h = memory().header;
  return h.removal_point == point && point >= 0 && (h.removal_actor < 0 || h.removal_actor == actor) &&
         (h.removal_hit == 0 || h.removal_hit == hits(actor, point)) && h.removal_taken.exchange(1) == 0;
}

void Board::log_value(int actor, std::int64_t value, LogKind kind) {
  if (!lock()) {
    return;
  }
  append({now_ns(), value, actor, -1, -1, 0, kind});
  unlock();
}

bool Board::give_up(ScheduleState why) {
  if (!lock()) {
    return false;
  }
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
  for (int i = 0; i < actors(); ++i) {
    const ActorSlot& a = memory().actors[i];
    if (a.state == ActorState::parked) {
      append({now_ns(), 0, i, a.point, a.step, 0, LogKind::released});
      grant(i);
    }
  }
}

int Board::agent_attached() {
  make_present();
  if (!lock()) {
    return -1;
  }
  const auto number = static_cast<int>(memory().header.attached++);
  unlock();
  return number;
}

} // namespace racelab::board

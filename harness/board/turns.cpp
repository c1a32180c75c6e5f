// Looking for one's turn without the mutex, and being passed by whoever gives it: see ARCHITECTURE.md, "Passing for
// another".
#include "board/board.h"

#include "board/clock.h"
#include "board/futex.h"
#include "board/sums.h"

#include <algorithm>
#include <chrono>

#include <sched.h>

namespace racelab::board {

// Whether the actor looks for its turn at this step, and nobody waits for what comes after it: those would be called
// before the actor has gone on.
bool Board::may_pass_for(int actor, int step) const {
  const Memory& m = memory();
  const ArrivalSlot& r = m.arrivals[actor];
  if (r.word.load(std::memory_order_acquire) != Arrival::announced || r.step != step ||
      m.header.state != ScheduleState::open || m.header.let_go) {
    return false;
  }
  const StepSlot& s = m.steps[step];
  const int end = clamped(s.edges_end, edges());
  for (int i = std::max(s.edges, 0); i < end; ++i) {
    const int after = m.edges[i].after;
    if (!is_index(after, steps()) || !is_actor(m.steps[after].actor) ||
        m.steps[after].open_before.load(std::memory_order_relaxed) != 1 ||
        m.actors[m.steps[after].actor].state == ActorState::parked ||
        m.arrivals[m.steps[after].actor].word.load(std::memory_order_relaxed) == Arrival::announced) {
      return false;
    }
  }
  return true;
}

// Passes the step for an actor that looks for its turn, so that neither the mutex nor the end of the log move to its
// core and back. What comes after has to wait until the actor has seen it.
void Board::pass_for(int actor, int step, std::int64_t now) {
  Memory& m = memory();
  ArrivalSlot& r = m.arrivals[actor];
  const bool was_before = r.since > 0 && r.since < now; // else it came while the giver was on its way to the mutex
  const std::int64_t waited = was_before ? now - r.since : 0;
  const std::int64_t index = append({now, waited, actor, m.steps[step].point, step, r.hit, LogKind::pass});
  r.log_index = index;
  m.steps[step].log_index = index < 0 ? 0 : static_cast<std::uint64_t>(index);
  m.steps[step].done = 1;
  r.word.store(Arrival::passed, std::memory_order_release); // from here on recover() does the rest
  m.actors[actor].waited = clamped_sum(m.actors[actor].waited, waited);
  m.header.open_steps = wrapped_sum(m.header.open_steps, -1);
  if (m.header.open_steps == 0) {
    m.header.state = ScheduleState::complete;
  }
  const int end = clamped(m.steps[step].edges_end, edges());
  for (int i = std::max(m.steps[step].edges, 0); i < end; ++i) {
    if (const int after = m.edges[i].after; is_index(after, steps())) {
      m.steps[after].after_arrival = actor;
      m.steps[after].open_before.store(0, std::memory_order_release);
    }
  }
}

bool Board::comes_too_soon(int step) const {
  const int before = memory().steps[step].after_arrival;
  return is_index(before, k_max_actors) && was_passed(before);
}

// Who comes a moment too early looks for its turn before it parks: most hand-overs to another core then need neither a
// system call nor the mutex twice. It does not help where the turn last came from the very core that this thread is on.
std::int64_t Board::look_for_turn(int actor, int step, bool enters) const {
  const Header& h = memory().header;
  if (h.may_spin && memory().actors[actor].woken_by_core != sched_getcpu()) {
    return spin_until(
        [&] { return was_passed(actor) || (may_pass(actor, step, enters) && (step < 0 || !comes_too_soon(step))); });
  }
  return now_ns();
}

void Board::announce(int actor, int step, std::uint32_t hit, std::int64_t since) {
  ArrivalSlot& r = memory().arrivals[actor];
  r.step = step;
  r.hit = hit;
  r.since = since;
  r.word.store(Arrival::announced, std::memory_order_release);
}

void Board::take_back(int actor) {
  memory().arrivals[actor].word.store(Arrival::none, std::memory_order_release);
}

// The actor's step was passed for it; says that it has seen this.
std::int64_t Board::leave_passed(int actor, int step) {
  ArrivalSlot& r = memory().arrivals[actor];
  ActorSlot& a = memory().actors[actor];
  const std::int64_t index = r.log_index;
  if (a.first_step == step) {
    a.first_step = memory().steps[step].next_of_actor;
  }
  r.word.store(Arrival::none, std::memory_order_release);
  return index;
}

// Until the actor before has seen that its step was passed for it: it was looking a moment ago, and has lost its core
// if this takes long. It calls nobody.
void Board::await_arrival(int step) const {
  const std::int64_t end = now_ns() + std::chrono::nanoseconds(m_patience).count();
  while (is_ready(step) && comes_too_soon(step) && !is_broken() && !memory().header.let_go && now_ns() < end) {
    if (const int before = memory().steps[step].after_arrival; is_index(before, k_max_actors)) {
      sleep_while_passed(memory().arrivals[before].word);
    }
  }
}

// With the mutex afterwards, but for false: the board broke. `step` may be -1; `now` is read again after a wait.
bool Board::lock_for_turn(int step, std::int64_t& now) {
  if (!lock()) {
    return false;
  }
  if (step < 0 || memory().header.let_go || !is_ready(step) || !comes_too_soon(step)) {
    return true;
  }
  unlock();
  await_arrival(step);
  now = now_ns();
  return lock();
}

} // namespace racelab::board

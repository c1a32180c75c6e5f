#pragma once
// The shared-memory protocol that makes threads of several processes pass named points in a chosen order.
//
// How it works. The harness writes a plan (points, actors, steps with a partial order, regions to serialize, locks) and
// every thread of the pipeline that reaches a point decides for itself, under one robust mutex, whether it may pass: a
// step of its own whose predecessors are not all done parks it on a futex word of its own. Whoever completes a step
// grants the steps that became ready, one wake-up per hand-over, after the mutex is free. There is no controller
// process in the path. Before it parks it looks for its turn for a while; then whoever makes its step ready may log the
// event for it (pass_for), and the steps after that one wait until it has seen so.
//
// What it guarantees. The log is a total order of the passes, and every listed step is logged after its predecessors. A
// schedule that cannot go on is given up in the very call that makes it so: when an actor ends while a step of its own
// is open, or comes to a later step of its own without having passed an earlier one (unreachable), or when waiting for
// steps, regions and known locks closes a cycle (impossible). Then all parked actors are let go, and points hold nobody
// any more.
//
// What it cannot do. It knows only the waiting that it is told of. A wait in a lock it does not know is seen by the
// harness's watcher instead, which calls give_up().
//
// The memory belongs to the program under test, which may overwrite it. Whatever it then holds, no call reads or writes
// beside the board, and none waits for longer than its patience for the mutex; afterwards the board is broken for this
// process: it holds nobody and logs nothing more.
//
// A process that dies holding the mutex is noticed by the next one to take it (EOWNERDEAD), which counts and grants
// anew what follows from the steps that are done; its actors are ended by end_process(), which the harness calls for
// every process it sees die, and which also calls those whom that process granted and did not come to wake.
#include "board/check.h"
#include "board/layout.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace racelab::board {

struct PlannedPoint {
  std::string name;
  PointKind kind = PointKind::plain;
  bool serialized = false;
};

struct PlannedStep {
  std::string actor;
  std::string point;
  int hit = 0;
  bool kills = false; // the actor's process dies right after it
};

// An event at which the trial's caches are removed, by the actor that passes it.
struct PlannedRemoval {
  std::string actor; // empty: whoever comes first
  std::string point;
  int hit = 0; // 0: any
};

// What a trial asks of the board. Names longer than k_name_size - 1 bytes, and more of anything than layout.h has room
// for, are refused by create().
struct Plan {
  std::vector<PlannedPoint> points;
  std::vector<std::string> locks;
  std::vector<PlannedStep> steps;
  std::vector<std::pair<int, int>> edges; // (before, after): indexes into steps
  std::optional<PlannedRemoval> removal;
};

// A board holds its mutex for microseconds; a process that was stopped in the middle gets this long.
constexpr std::chrono::milliseconds k_patience{10'000};

// One mapping of a board. Move-only; unmaps when it goes, the memory lives as long as any process has it.
class Board {
public:
  // Makes a board in a new memfd, which stays open in fd() and is not closed on exec. Throws std::runtime_error with
  // the reason (limits, no memory).
  static Board create(const Plan& plan);
  // Maps an existing board. nullopt with `error` set: not a board, another format, truncated, damaged.
  static std::optional<Board> map(int fd, std::string& error, std::chrono::milliseconds patience = k_patience);

  Board(Board&& other) noexcept;
  Board& operator=(Board&& other) noexcept;
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  // The memfd of a created board; -1 for a mapped one.
  int fd() const { return m_fd; }

  // -1: the trial does not use that name.
  int find_point(std::string_view name) const;
  int find_lock(std::string_view name) const;

  // Registers the calling thread as the actor `name`. A name that another living or ended thread has becomes "name@2"
  // and so on. Returns the actor, or -1 if all slots are taken.
  int enter_actor(std::string_view name, int pid, int tid, std::uint64_t ident);
  void end_actor(int actor);
  // Ends every actor of a process that died.
  void end_process(int pid);

  // The actor passes the point, after waiting for its turn if need be. Returns the index of the event in the log, or -1
  // if the log is full.
  std::int64_t pass(int actor, int point);

  // Whether any event does more than happen: the two below.
  bool has_deeds() const { return memory().header.has_deeds != 0; }
  // Whether the event at this index of the log is one that its actor's process must not survive.
  bool kills(std::int64_t log_index) const;
  // Whether the actor, which has just passed the point, is the one to remove the trial's caches; true once per trial.
  bool takes_removal(int actor, int point);
  void log_removal(int actor, std::int64_t count) { log_value(actor, count, LogKind::removed); }

  // Around a known lock: `wanted` before asking (may give up the schedule, never blocks), `taken` once it is held,
  // `released` just before it is let go.
  void lock_wanted(int actor, int lock);
  void lock_taken(int actor, int lock);
  void lock_released(int actor, int lock);
  // The attempt ended without the lock (a time-out, a non-blocking try).
  void lock_not_taken(int actor);

  // A non-event entry in the log: tokens produced.
  void log_tokens(int actor, std::int64_t count) { log_value(actor, count, LogKind::tokens); }

  // Ends the schedule from outside (the watcher saw that nothing moves) and lets everybody go. False if it had ended
  // already.
  bool give_up(ScheduleState why);

  // Counts a process with an agent; returns its number, from 0; -1 if the board is broken.
  int agent_attached();
  void count_lost_fact() { memory().header.facts_lost.fetch_add(1, std::memory_order_relaxed); }

  // The mutex cannot be had any more: see above.
  bool is_broken() const { return m_broken.load(std::memory_order_relaxed); }

  // A consistent copy of everything but the log, made under the mutex; every index in it is one of the picture or -1.
  // Empty if the board is broken.
  struct Picture {
    ScheduleState state = ScheduleState::open;
    int stuck_step = -1;
    std::vector<WaitEdge> chain;
    struct Actor {
      std::string name;
      ActorState state = ActorState::unused;
      int pid = 0, tid = 0;
      std::uint64_t ident = 0;
      int point = -1, step = -1, lock = -1;
      std::int64_t waited = 0;
    };
    std::vector<Actor> actors;
    struct Step {
      int actor = -1, point = -1;
      unsigned hit = 0;
      bool done = false, kills = false;
      std::uint64_t log_index = 0;
    };
    std::vector<Step> steps;
    struct Lock {
      std::string name;
      int holder = -1;
    };
    std::vector<Lock> locks;
    unsigned attached = 0, recovered = 0, actors_lost = 0;
    std::uint64_t facts_lost = 0, log_lost = 0;
    std::uint32_t log_count = 0;
  };
  Picture picture() const;
  std::string point_name(int point) const;
  // How often the actor passed or arrived at the point.
  unsigned hits(int actor, int point) const;
  // Log entries from `first` on; entries below log_count never change.
  std::vector<LogEntry> log_from(std::uint32_t first) const;
  std::uint32_t log_count() const {
    return std::min(memory().header.log_count.load(std::memory_order_acquire), k_log_capacity);
  }

  // For tests: leaves the mutex locked, as a process killed inside would.
  void lock_for_test() { lock(); }
  void set_patience_for_test(std::chrono::milliseconds patience) { m_patience = patience; }

private:
  Board(int fd, Memory* memory) : m_fd(fd), m_memory(memory) {}

  Memory& memory() const { return *m_memory; }
  // False if the board is broken: then nothing is locked.
  bool lock() const;
  void unlock() const; // and calls those who were granted meanwhile and sleep

  void make_present() const;
  void log_value(int actor, std::int64_t value, LogKind kind);

  // Without the mutex, by the actor's own thread.
  int match_step(int actor, int point, std::uint32_t hit);
  std::int64_t look_for_turn(int actor, int step, bool enters) const;
  void announce(int actor, int step, std::uint32_t hit, std::int64_t since);
  void take_back(int actor);
  std::int64_t leave_passed(int actor, int step);
  void await_arrival(int step) const;
  bool lock_for_turn(int step, std::int64_t& now);
  bool was_passed(int actor) const {
    return memory().arrivals[actor].word.load(std::memory_order_acquire) == Arrival::passed;
  }
  // The event before was passed for an actor that has not seen it yet.
  bool comes_too_soon(int step) const;

  bool is_ready(int step) const { return memory().steps[step].open_before.load(std::memory_order_acquire) == 0; }
  bool may_enter_region(int actor) const;
  bool may_pass(int actor, int step, bool enters) const {
    return (step < 0 || is_ready(step)) && (!enters || may_enter_region(actor));
  }

  int points() const { return clamped(memory().header.points, k_max_points); }
  int actors() const { return clamped(memory().header.actors, k_max_actors); }
  int steps() const { return clamped(memory().header.steps, k_max_steps); }
  int edges() const { return clamped(memory().header.edges, k_max_edges); }
  int locks() const { return clamped(memory().header.locks, k_max_locks); }
  bool is_actor(int actor) const { return is_index(actor, actors()); }
  std::vector<WaitEdge> chain() const;

  // All below: with the mutex held.
  void recover() const;
  void count_open() const;
  void wake_granted() const;
  std::int64_t append(const LogEntry& entry);
  void set_state(int actor, ActorState state) const;
  bool park(int actor, int point, int step, std::uint32_t hit);
  void complete_step(int step, std::int64_t log_index, std::int64_t now);
  void grant(int actor) const;
  void mark_ready_by_one(int step, std::int64_t now);
  bool may_pass_for(int actor, int step) const;
  void pass_for(int actor, int step, std::int64_t now);
  void finish_arrivals() const;
  void leave_region(int actor);
  void hand_over_region();
  void end_actor_locked(int actor);
  void give_up_locked(ScheduleState why);
  void detect_cycle(int start);
  int overtaken_step(const std::vector<WaitEdge>& cycle) const;
  std::vector<int> open_steps_before(int step) const;
  bool walk_waits(int actor, std::vector<WaitEdge>& path, std::vector<std::uint8_t>& visited, int start) const;
  std::vector<WaitEdge> waits_of(int actor) const;

  int m_fd = -1;
  Memory* m_memory = nullptr;
  std::chrono::milliseconds m_patience = k_patience;
  mutable std::atomic<bool> m_broken{false};
};

} // namespace racelab::board

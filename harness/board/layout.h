#pragma once
// The bytes of the board: one shared-memory object per trial that the harness creates and every process of the pipeline
// maps.
//
// Everything is fixed-size and position-independent: indexes instead of pointers, no constructors needed beyond zeroed
// memory and the mutex. All fields but the atomics are guarded by `Header::mutex`. The memory is sparse (a memfd): what
// a trial does not use costs nothing.
//
// What a hand-over touches lies together in as few cache lines as possible: each line that another core wrote last
// costs as much as half of the hand-over itself (ci/bench).
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace racelab::board {

constexpr std::uint32_t k_magic = 0x4c434152; // "RACL"
constexpr std::uint32_t k_format = 4;         // raise on every change of this file
constexpr int k_max_actors = 1024;
constexpr int k_max_points = 512;
constexpr int k_max_steps = 4096;
constexpr int k_max_edges = 16384;
constexpr int k_max_locks = 64;
constexpr int k_max_wait_chain = 32;
constexpr std::uint32_t k_log_capacity = 1U << 18U; // entries; later ones are counted in `log_lost`
constexpr std::size_t k_log_present = 8192;         // entries whose memory (512 kB) is there from the beginning
constexpr int k_name_size = 96;                     // bytes, with the final zero

constexpr int k_cache_line = 64;       // bytes
constexpr int k_cache_line_pair = 128; // what two cores that write must keep apart: lines are fetched in pairs

using Name = std::array<char, k_name_size>;

enum class PointKind : std::uint8_t { plain, enter, exit, lock_wanted, lock_taken, lock_released };

struct PointSlot {
  Name name;
  PointKind kind;
  std::uint8_t serialized; // an enter or exit of a region that the interleaving serializes
  std::uint8_t has_steps;
};

enum class ActorState : std::uint8_t {
  unused,
  expected, // named by the plan, not yet seen
  running,
  parked,  // waits for its turn
  wanting, // asks for a known lock that it does not hold
  ended,
};

// What an actor that is parked waits for: its `wake` word.
enum class Wake : std::uint32_t {
  waiting,  // not yet, and it does not sleep yet
  sleeping, // not yet, and whoever grants has to call futex
  granted,  // its turn has come; stays so until it parks again
};

struct alignas(k_cache_line) ActorSlot {
  std::atomic<Wake> wake; // the futex word
  ActorState state;
  std::int32_t point;         // where it is parked, or -1
  std::int32_t step;          // the step it waits for, or -1
  std::int32_t lock;          // the known lock it wants, or -1
  std::int32_t first_step;    // of its own, from which on some may be open; or -1. Its own thread's
  std::int32_t next_to_wake;  // in the list from Header::first_to_wake
  std::int32_t woken_by_core; // where the one ran who granted last, or -1
  std::uint64_t park_number;  // order of arrival among parked actors
  std::int64_t parked_since;  // ns, CLOCK_MONOTONIC
  std::int32_t pid;
  std::int32_t tid;
  std::uint64_t ident; // pthread_self(), which is Python's thread ident
  std::int64_t waited; // ns parked in all. Not in the first line, which is the actor's own while it does not park
  Name name;
};

// What an actor that looks for its turn says to whoever gives it.
enum class Arrival : std::uint32_t {
  none,
  announced, // it stands at `step`: who makes that ready may pass it for the actor. Taken back with the mutex only
  passed,    // that has been done; stays so until the actor has seen it
};

struct alignas(k_cache_line_pair) ArrivalSlot {
  std::atomic<Arrival> word;
  std::int32_t step;
  std::uint32_t hit;
  std::int64_t since;     // ns, CLOCK_MONOTONIC
  std::int64_t log_index; // passed: of the event, or -1
};

// One listed event of an interleaving. The first line changes once, when the step becomes ready.
struct alignas(k_cache_line) StepSlot {
  std::atomic<std::uint32_t> open_before; // direct predecessors that are not done
  std::int32_t actor;
  std::int32_t point;
  std::uint32_t hit;             // 0: the next pass
  std::int32_t next_of_actor;    // the actor's next step in the plan, or -1
  std::int32_t edges, edges_end; // those that begin here: a range of Memory::edges

  alignas(k_cache_line) std::uint32_t done;
  std::int32_t after_arrival; // ready only once this actor has seen that its step was passed for it; or -1
  std::uint32_t kills;        // the process of the actor dies right after it
  std::uint64_t log_index;
};

// Ordered by `before`.
struct EdgeSlot {
  std::int32_t before, after;
};

struct LockSlot {
  Name name;
  std::int32_t holder; // actor, or -1
  std::uint32_t depth; // recursion
};

enum class LogKind : std::uint8_t {
  pass,     // an actor passed a point: an event
  parked,   // it arrived before its turn
  released, // it was let go because the schedule was given up
  actor_start,
  actor_end,
  tokens,   // value: number of tokens
  given_up, // the schedule cannot go on; value: ScheduleState
  removed,  // the trial's caches were removed; value: number of files and folders
};

struct alignas(k_cache_line) LogEntry {
  std::int64_t time;  // ns, CLOCK_MONOTONIC
  std::int64_t value; // pass: ns it was parked; tokens: count
  std::int32_t actor;
  std::int32_t point; // or -1
  std::int32_t step;  // or -1
  std::uint32_t hit;
  LogKind kind;
};

enum class ScheduleState : std::uint32_t {
  open,        // steps are left, or nothing is asked
  complete,    // every step is done
  unreachable, // an actor ended without reaching a step of its own
  impossible,  // a cycle of waiting
  stalled,     // nothing moved, and no known lock explains it (decided by the watcher)
};

enum class WaitKind : std::uint8_t { for_event, for_lock, for_region };

// One edge of the cycle that makes a schedule impossible: `actor` waits for `other`.
struct WaitEdge {
  std::int32_t actor;
  std::int32_t other;
  std::int32_t point; // where `actor` is parked, or -1
  std::int32_t step;  // the step of `other` it waits for, or -1
  std::int32_t lock;  // or -1
  WaitKind kind;
};

struct Header {
  std::uint32_t magic;
  std::uint32_t format;
  std::uint64_t size; // of the whole object

  // One cache line that comes with the mutex.
  alignas(k_cache_line) pthread_mutex_t mutex; // robust, process-shared
  std::atomic<std::uint32_t> log_count;
  std::int32_t open_steps; // not done
  std::int64_t last_time;  // of the log, ns
  std::int32_t waiting;    // actors that are parked or wanting

  alignas(k_cache_line) std::int32_t points;
  std::int32_t actors, steps, edges, locks; // used entries, as `points`
  std::uint32_t edges_go_forward;           // each from a step to a later one of the plan
  std::uint32_t may_spin;                   // there is more than one core
  std::uint32_t has_deeds;                  // some event kills, or removes caches
  std::atomic<std::uint32_t> let_go;        // points no longer hold anybody
  ScheduleState state;
  std::int32_t first_to_wake; // granted and asleep: to be called once the mutex is free; -1: nobody

  std::int32_t stuck_step; // unreachable: the step that will not come
  std::int32_t chain_length;
  std::array<WaitEdge, k_max_wait_chain> chain; // impossible: the cycle

  std::atomic<std::int32_t> region_owner; // serialize: actor inside, or -1
  std::uint32_t region_depth;
  std::uint64_t next_park_number;

  // Whoever passes this point first, or as the actor and with the hit that are given, removes the trial's caches.
  std::int32_t removal_point, removal_actor; // or -1; the actor may be any
  std::uint32_t removal_hit;                 // 0: any
  std::atomic<std::uint32_t> removal_taken;  // somebody does

  std::uint32_t attached;    // processes that mapped the board as agents
  std::uint32_t recovered;   // times a process died holding the mutex
  std::uint32_t actors_lost; // threads that found no free slot
  std::atomic<std::uint64_t> facts_lost;
  std::atomic<std::uint64_t> log_lost;
};

struct Memory {
  Header header;
  std::array<PointSlot, k_max_points> points;
  std::array<ActorSlot, k_max_actors> actors;
  std::array<ArrivalSlot, k_max_actors> arrivals;
  std::array<StepSlot, k_max_steps> steps;
  std::array<EdgeSlot, k_max_edges> edges;
  std::array<LockSlot, k_max_locks> locks;
  std::array<std::array<std::atomic<std::uint32_t>, k_max_points>, k_max_actors> hits; // each counted by its own thread
  std::array<LogEntry, k_log_capacity> log;
};

static_assert(offsetof(Header, points) == offsetof(Header, mutex) + k_cache_line);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace racelab::board

#pragma once
// What one trial left behind, with names instead of numbers: the input of every oracle.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::result {

using Json = nlohmann::ordered_json;

enum class EventKind { pass, parked, released, actor_start, actor_end, tokens, given_up, removed };

// One line of events.jsonl.
struct Event {
  EventKind kind = EventKind::pass;
  std::int64_t time_ns = 0;   // since the trial's start
  std::int64_t waited_ns = 0; // pass: how long the actor was parked before
  std::int64_t tokens = 0;    // tokens: how many
  std::int64_t removed = 0;   // removed: files and folders of the trial's caches
  std::string actor;
  std::string point; // "fx.trace.enter"; empty where there is none
  unsigned hit = 0;  // pass: the n-th pass of this actor, from 1
  int step = -1;     // index into the interleaving's events, -1: not listed
  int index = -1;    // its place among the trial's events, where it was taken out of them; -1: still there
};

// How the board left the schedule.
enum class BoardState { open, complete, unreachable, impossible, stalled };

enum class WaitKind { for_event, for_lock, for_region };

// "actor waits for other": one edge of a cycle.
struct Wait {
  std::string actor, other;
  WaitKind kind = WaitKind::for_event;
  std::string parked_at;     // the point where `actor` is parked, empty: it is not
  std::string awaited_event; // for_event: "drafter1 compiled_call.exit"
  std::string lock;          // for_lock
};

struct StepState {
  std::string event; // "drafter0 fx.trace.enter"
  std::string actor, point;
  bool done = false;
  bool kills = false;     // the scenario has the actor's process killed there
  unsigned times_hit = 0; // how often the actor came to that point in all
};

struct ActorRecord {
  std::string name;
  bool appeared = false;
  bool ended = false;
  std::int64_t waited_ns = 0;
};

// How the pipeline's process ended.
enum class EndKind {
  exited,      // by itself; exit_code
  signalled,   // by a signal that racelab did not send; signal
  time_limit,  // killed at the scenario's time limit
  deadlock,    // killed: known locks form a cycle
  hang,        // killed: nothing moved
  interrupted, // killed: the user pressed Ctrl-C
  not_started, // message says why
};

struct ProcessEnd {
  EndKind kind = EndKind::exited;
  int exit_code = 0;
  int signal = 0;
  std::string message;
  double user_s = 0, system_s = 0;
  std::int64_t max_rss_bytes = 0;
  int left_over = 0; // descendants that were still alive and were killed
};

// A line of the program's output that reports tokens.
struct TokenLine {
  std::int64_t time_ns = 0; // since the trial's start
  std::string actor;        // empty: of all
  double number = 0;        // tokens since the line before, or tokens/s
};

struct TrialRecord {
  int index = 0; // from 1
  std::vector<Event> events;
  BoardState board = BoardState::open;
  int stuck_step = -1;
  std::vector<Wait> cycle;
  std::vector<StepState> steps;
  std::vector<ActorRecord> actors;
  std::vector<Json> facts; // facts.jsonl; "actor" is a name here
  std::string stacks;      // Python stacks at a crash, deadlock or hang
  std::string stderr_tail;
  std::vector<TokenLine> token_lines; // where the scenario takes tokens from the output
  bool token_lines_are_rates = false;
  std::map<std::string, std::vector<double>> results; // actor -> its results in order, where the scenario compares them
  ProcessEnd end;
  unsigned attached = 0; // processes with an agent
  std::uint64_t facts_lost = 0, events_lost = 0;
  unsigned actors_lost = 0;
  std::string stalled_because; // board == stalled: what the watcher saw
  double wall_s = 0;           // from the request to start until the process's end
  double overhead_s = 0;       // what racelab itself added around it: preparing, reading, judging
};

} // namespace racelab::result

#pragma once
// The result of a run, as reports show it and as result.json holds it (names there are fixed: reports/schemas).
#include "result/record.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace racelab::result {

constexpr int k_result_format = 1;

struct Fault {
  std::string kind;  // "nested_tracing"; the vocabulary is in oracle/faults.h
  std::string actor; // empty: the process as a whole
  int event = -1;    // index into the trial's events, -1: none
  std::string message;
  std::string stack;
  std::string others; // what the other actors were doing then, one clause each
};

enum class ScheduleStatus { realised, unreachable, impossible, diverged, free, unproved };
std::string to_string(ScheduleStatus status);

// Median with a distribution-free interval (order statistics) of at least 95 % where the number of values allows one,
// else the extremes.
struct Spread {
  double median = 0, low = 0, high = 0;
  int n = 0;
};

struct ActorThroughput {
  std::string actor;
  std::int64_t tokens = 0;
  // From the end of its first step to the end of its last one; 0 with fewer than two steps.
  double steady_tokens_per_s = 0;
  double first_step_s = 0; // from the beginning to the end of its first step; 0: none
  double waited_s = 0;     // parked by racelab
};

struct TrialResult {
  int index = 0;
  ScheduleStatus status = ScheduleStatus::free;
  std::string status_reason; // one sentence; empty for realised and free
  std::vector<Fault> faults;
  std::vector<ActorThroughput> throughput;
  double total_tokens_per_s = 0; // all steps of all actors after each one's first, over the time they span
  std::map<std::string, std::int64_t> cache_counters; // "aot_autograd.autograd_cache_hit" -> n
  std::map<std::string, int> tracer_entries;          // "PythonKeyTracer from compiled call" -> traces
  double wall_s = 0, overhead_s = 0;
  std::string cache_outcome;        // what torch made of a bad cache; empty: the cache was cold or warm
  std::optional<bool> cache_mended; // nothing of the damage was left afterwards; nullopt: there was none
  std::string directory;            // relative to the run's directory: "trials/001"
  std::string replay;               // the file of its schedule, empty: none was written
  // Passes only, each with its `index`; kept for the first faulty trial of a cell, for the column view.
  std::vector<Event> schedule;
};

enum class Verdict { expected, ok, failed, flaky, fixed, skipped, inconclusive };
std::string to_string(Verdict verdict);

struct CacheProof {
  std::int64_t hits = 0, misses = 0;                  // compile-cache look-ups of all trials
  std::int64_t entries_before = 0, entries_after = 0; // files, in the first trial
  std::int64_t bytes_before = 0, bytes_after = 0;
  bool proved = false;
  std::string message; // what was found, and what was needed if it is not proved
};

struct Proportion {
  int k = 0, n = 0;
  double low = 0, high = 1; // Wilson, 95 %
};

struct CellResult {
  std::string id, toolkit, cache, layout, interleaving, mitigation;
  std::string layout_text; // "1t3d on CPU: drafter 1,2,3 -> cpu"
  int trials = 0;
  int realised = 0, unreachable = 0, impossible = 0, diverged = 0, unproved = 0;
  bool controlled = false;            // an order was asked for
  std::optional<std::string> skipped; // why the cell did not run
  // Trials with at least one, by kind; all that were seen or expected.
  std::vector<std::pair<std::string, Proportion>> faults;
  std::vector<std::pair<std::string, std::string>> expected; // "status" and fault kinds -> what the scenario expects
  Verdict verdict = Verdict::skipped;
  std::vector<std::string> reasons; // why the verdict is what it is; first the most telling
  Spread total_tokens_per_s;
  std::vector<std::pair<std::string, Spread>> tokens_per_s; // by actor
  std::vector<std::pair<std::string, Spread>> first_step_s;
  CacheProof cache_proof;
  std::vector<std::string> cache_changes;    // what was done to the cache before the first trial
  std::map<std::string, int> cache_outcomes; // what torch made of it -> trials
  std::optional<int> cache_mended;           // trials that left nothing of the damage; nullopt: there was none
  std::map<std::string, int> tracer_entries; // summed over the trials
  std::string repeat;                        // the command that runs this cell again
  std::vector<TrialResult> trial_results;
};

struct ToolkitInfo {
  std::string name;
  std::string python, torch, torch_git, triton, cuda, executable;
  std::map<std::string, std::string> features;
  std::string packages_digest;
  std::map<std::string, std::string> missing_points;
};

struct MachineInfo {
  int cpus = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> gpus;
  std::string driver;
};

struct RunResult {
  std::string version, git;
  std::vector<std::string> command;
  std::string started; // UTC, ISO 8601
  double seconds = 0;
  std::string scenario_name, scenario_file, scenario_digest, scenario_about;
  MachineInfo machine;
  std::vector<ToolkitInfo> toolkits;
  std::vector<std::string> notes; // lines for the head of the report: caches filled, protections, what was folded
  std::vector<CellResult> cells;
  std::string directory; // where the run's files are
  int exit_code = 0;
  std::string exit_meaning;
};

// The text of result.json. Keys in a stable order; numbers that do not exist are null.
Json to_json(const RunResult& run);
// The same as to_json(run).dump(1) with a line break, without ever holding the JSON of more than one trial, which is
// several times as large as the text.
std::string to_text(const RunResult& run);
// Reads what to_json made, of this or an older format. Throws base::UserError with what is wrong.
RunResult from_json(const Json& json, const std::string& file);

Json to_json(const Event& event);

} // namespace racelab::result

#pragma once
// Oracles: pure functions from what a trial left (result::TrialRecord) to what went wrong in it, and from a cell's
// trials to its verdict.
#include "result/result.h"
#include "scenario/expand.h"
#include "schedule/interleaving.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace racelab::oracle {

// Why a place could not be hooked, by its name. A place that any process of the trial has is not missing.
std::map<std::string, std::string> missing_places(const result::TrialRecord& trial);

// What a trial's results must be: those of a serial run of the same cell with a cold cache.
using Results = std::map<std::string, std::vector<double>>;
// wrong_result for each actor whose results differ by more than `tolerance` (relative to the larger). An actor that
// ended early has fewer, which is no wrong result; more than the serial run's are. Of several `processes` each may
// repeat the series; what they print may be mixed in any way.
std::vector<result::Fault> wrong_results(const Results& results, const Results& reference, double tolerance,
                                         int processes = 1);

// What torch made of a cache that was damaged, foreign or shut: "used a wrong artefact", "crashed", "hung", "raised",
// "warned and recomputed", "recomputed", "warned", "did not notice". `recomputed`: some look-up missed, or what was
// damaged is whole again. `log` is the pipeline's stderr.
std::string cache_outcome(const result::TrialResult& trial, bool recomputed, const std::string& log);

// One kind of fault, as scenarios name it.
struct FaultKind {
  std::string name;
  std::string about;
};

// nested_tracing, stuck_flag, silent_eager, actor_died, compile_error, crash, deadlock, hang, time_limit, exit_status,
// wrong_result, slow.
const std::vector<FaultKind>& fault_kinds();

// What became of the interleaving. `realised` is checked against the log, not taken from the board's word.
struct ScheduleFinding {
  result::ScheduleStatus status = result::ScheduleStatus::free;
  std::string reason; // one sentence, empty where there is nothing to explain
};
ScheduleFinding schedule_status(const result::TrialRecord& trial, const schedule::Interleaving& interleaving);

// Do the events named by the interleaving stand in the log in the order it asks for? Empty, or what is wrong.
std::string check_order(const std::vector<result::Event>& events, const schedule::Interleaving& interleaving);

// Everything that went wrong, in order of time, one fault per kind, actor and place.
std::vector<result::Fault> faults(const result::TrialRecord& trial);

// Faults of a scenario's own kinds: lines of the output (at most 2,000 characters of each are looked at) that match.
// One fault a kind, with its first line.
std::vector<result::Fault> output_faults(const std::string& output, const std::vector<scenario::OutputFault>& kinds);

// Faults of kind `slow`: throughput below what the scenario expects.
std::vector<result::Fault> slow_faults(const result::TrialResult& trial,
                                       const std::vector<scenario::ThroughputBound>& bounds);

std::vector<result::ActorThroughput> throughput(const result::TrialRecord& trial);
double total_tokens_per_s(const result::TrialRecord& trial);

// torch's own counters, summed over the trial's processes: "aot_autograd.autograd_cache_hit" -> n.
std::map<std::string, std::int64_t> counters(const result::TrialRecord& trial);

// "PythonKeyTracer from compiled call" -> how many traces; and "create_block_mask" -> 0 if no trace came from it
// although the agent looked.
std::map<std::string, int> tracer_entries(const result::TrialRecord& trial);

// Fills verdict and reasons of a cell whose trials, faults, cache proof and expectation are there.
void judge(result::CellResult& cell, const scenario::CellExpectation& expectation);

} // namespace racelab::oracle

#pragma once
// A result in which every field differs from its default.
#include "result/result.h"

namespace racelab::result {

inline TrialResult sample_trial() {
  TrialResult trial;
  trial.index = 1;
  trial.status = ScheduleStatus::realised;
  trial.status_reason = "all four events in order";
  trial.faults = {{.kind = "nested_tracing",
                   .actor = "drafter1",
                   .event = 7,
                   .message = "RuntimeError: Detected that you are using FX",
                   .stack = "train.py:12 in step",
                   .others = "drafter0 was inside fx.trace"},
                  {.kind = "crash", .actor = "", .event = -1, .message = "signal 11", .stack = "", .others = ""}};
  trial.throughput = {{"drafter0", 4096, 1900.5, 2.25, 0.125}, {"drafter1", 0, 0, 0, 0}};
  trial.total_tokens_per_s = 1900.5;
  trial.cache_counters = {{"aot_autograd.autograd_cache_hit", 3}};
  trial.tracer_entries = {{"PythonKeyTracer from compiled call", 3}, {"create_block_mask", 0}};
  trial.wall_s = 1.5;
  trial.overhead_s = 0.25;
  trial.directory = "trials/001";
  trial.replay = "cold-nested-trace.replay.json";
  trial.schedule = {{.kind = EventKind::pass,
                     .time_ns = 1000,
                     .waited_ns = 20,
                     .tokens = 0,
                     .actor = "drafter0",
                     .point = "fx.trace.enter",
                     .hit = 1,
                     .step = 0,
                     .index = 4}};
  return trial;
}

inline CellResult sample_cell() {
  CellResult cell;
  cell.id = "cold/nested-trace";
  cell.toolkit = "current";
  cell.cache = "cold";
  cell.layout = "1t3d";
  cell.interleaving = "nested-trace";
  cell.mitigation = "none";
  cell.layout_text = "1t3d on CPU: drafter 1,2,3 -> cpu";
  cell.trials = 5;
  cell.realised = 4;
  cell.unreachable = 1;
  cell.controlled = true;
  cell.faults = {{"nested_tracing", {.k = 3, .n = 5, .low = 0.23, .high = 0.88}},
                 {"deadlock", {.k = 0, .n = 4, .low = 0, .high = 0.49}}};
  cell.expected = {{"status", "realised"}, {"nested_tracing", "always"}};
  cell.verdict = Verdict::failed;
  cell.reasons = {"nested_tracing in 3 of 5 trials, expected in all"};
  cell.total_tokens_per_s = {.median = 1900, .low = 1800, .high = 2000, .n = 5};
  cell.tokens_per_s = {{"drafter0", {.median = 1900, .low = 1800, .high = 2000, .n = 5}}, {"drafter1", {}}};
  cell.first_step_s = {{"drafter0", {.median = 2.25, .low = 2, .high = 2.5, .n = 5}}};
  cell.cache_proof = {.hits = 1,
                      .misses = 2,
                      .entries_before = 3,
                      .entries_after = 4,
                      .bytes_before = 5,
                      .bytes_after = 6,
                      .proved = true,
                      .message = "2 misses"};
  cell.tracer_entries = {{"PythonKeyTracer from compiled call", 15}, {"create_block_mask", 0}};
  cell.repeat = "racelab run scenario.yaml -k cold/nested-trace";
  cell.trial_results = {sample_trial()};
  return cell;
}

inline RunResult sample_run() {
  RunResult run;
  run.version = "0.1.0";
  run.git = "0123abc";
  run.command = {"racelab", "run", "scenario.yaml"};
  run.started = "2025-01-02T03:04:05Z";
  run.seconds = 61.5;
  run.scenario_name = "cold cache, 3 drafters";
  run.scenario_file = "scenarios/cold_cache_3drafters.yaml";
  run.scenario_digest = "00ff";
  run.scenario_about = "what happens";
  run.machine = {.cpus = 16, .memory_bytes = 1 << 30, .gpus = {"NVIDIA H200", "NVIDIA H200"}, .driver = "570.1"};
  ToolkitInfo toolkit;
  toolkit.name = "current";
  toolkit.python = "3.11.7";
  toolkit.torch = "2.11.0+cu130";
  toolkit.torch_git = "70d99e998b0000";
  toolkit.triton = "3.6.0";
  toolkit.cuda = "13.0";
  toolkit.executable = "bin/python";
  toolkit.features = {{"fx_flag", "global"}};
  toolkit.packages_digest = "beef";
  toolkit.missing_points = {{"inductor.lock", "no such module"}};
  run.toolkits = {toolkit};
  run.notes = {"cache: warm snapshot 3f2a: 40 files"};
  CellResult skipped;
  skipped.id = "warm/free";
  skipped.skipped = "needs 2 GPUs, there is none";
  run.cells = {sample_cell(), skipped};
  run.directory = "reports/runs/1";
  run.exit_code = 1;
  run.exit_meaning = "an expectation failed";
  return run;
}

} // namespace racelab::result

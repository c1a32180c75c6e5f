#include "cases.h"

#include "base/assert.h"
#include "stats/stats.h"

#include <regex>

namespace racelab::report {

using result::CellResult;
using result::EventKind;
using result::Fault;
using result::RunResult;
using result::ScheduleStatus;
using result::TrialResult;
using result::Verdict;

namespace {

result::Event pass(int index, const std::string& actor, const std::string& point, int step) {
  result::Event event;
  event.actor = actor;
  event.point = point;
  event.hit = 1;
  event.step = step;
  event.index = index;
  return event;
}

RunResult run_of(std::vector<CellResult> cells, int exit_code, const std::string& meaning) {
  RunResult run;
  run.version = "0.1.0";
  run.git = "0123abc";
  run.started = "2025-01-02T03:04:05Z";
  run.seconds = 61.2;
  run.scenario_name = "cold-cache-3-drafters";
  run.scenario_file = "scenarios/cold_cache_3drafters.yaml";
  run.machine.cpus = 2;
  result::ToolkitInfo toolkit;
  toolkit.name = "current";
  toolkit.python = "3.11.7";
  toolkit.torch = "2.11.0+cu130";
  toolkit.torch_git = "70d99e998b0123456789";
  toolkit.triton = "3.6.0";
  run.toolkits = {toolkit};
  run.notes = {"cache: warm snapshot 3f2a: 40 files, 1.4 MB, filled serially in 11.2 s"};
  run.cells = std::move(cells);
  run.directory = "reports/runs/20250102-cold";
  run.exit_code = exit_code;
  run.exit_meaning = meaning;
  return run;
}

RunResult held(CellResult cell) {
  return run_of({std::move(cell)}, 0, "everything expected held");
}

RunResult broken(CellResult cell) {
  return run_of({std::move(cell)}, 1, "an expectation failed");
}

CellResult faulty_cell(int faulty, int trials, Verdict verdict) {
  CellResult cell = good_cell("cold/nested-trace", trials);
  cell.faults = {{"nested_tracing", stats::proportion(faulty, trials)}};
  cell.verdict = verdict;
  for (int i = 0; i < faulty; ++i)
    cell.trial_results[static_cast<std::size_t>(i)] = nested_trial(i + 1);
  cell.tokens_per_s[0].second = {};
  cell.tokens_per_s[1].second = {};
  return cell;
}

CellResult expected_cell() {
  CellResult cell = faulty_cell(5, 5, Verdict::expected);
  cell.expected = {{"status", "realised"}, {"nested_tracing", "always"}};
  return cell;
}

CellResult unexpected_cell() {
  CellResult cell = faulty_cell(5, 5, Verdict::failed);
  cell.reasons = {"nested_tracing is not expected and was seen in 5 of 5 trials"};
  return cell;
}

CellResult status_cell(ScheduleStatus status, const std::string& reason) {
  CellResult cell = good_cell("warm/nested-trace", 5);
  cell.realised = 0;
  (status == ScheduleStatus::unreachable  ? cell.unreachable
   : status == ScheduleStatus::impossible ? cell.impossible
                                          : cell.unproved) = 5;
  for (TrialResult& trial : cell.trial_results) {
    trial.status = status;
    trial.status_reason = reason;
  }
  return cell;
}

CellResult unreachable_cell() {
  return status_cell(ScheduleStatus::unreachable, "fx.trace never entered: AOTAutograd cache hit 3 of 3");
}

CellResult impossible_cell() {
  return status_cell(ScheduleStatus::impossible,
                     "drafter1 waits for compile_lock, held by drafter0, parked at fx.trace.exit "
                     "waiting for drafter1 compiled_call.exit");
}

CellResult unproved_cell() {
  CellResult cell = status_cell(ScheduleStatus::unproved, "no point of the order was ever hit");
  cell.verdict = Verdict::inconclusive;
  cell.reasons = {"unproved in 5 of 5 trials: no point of the order was ever hit"};
  return cell;
}

CellResult flaky_cell() {
  CellResult cell = faulty_cell(3, 5, Verdict::flaky);
  cell.id = "cold/free";
  cell.controlled = false;
  cell.realised = 0;
  cell.reasons = {"nested_tracing in 3 of 5 trials"};
  return cell;
}

CellResult fixed_cell() {
  CellResult cell = good_cell("cold/nested-trace", 5);
  cell.faults = {{"nested_tracing", stats::proportion(0, 5)}};
  cell.expected = {{"nested_tracing", "always"}};
  cell.verdict = Verdict::fixed;
  cell.reasons = {"nested_tracing is expected in every trial and was seen in none: fixed?"};
  return cell;
}

CellResult skipped_cell() {
  CellResult cell;
  cell.id = "cold/nested-trace";
  cell.skipped = "layout 5t3d requires 2 GPUs, there is none";
  cell.verdict = Verdict::skipped;
  return cell;
}

CellResult many_actors_cell() {
  CellResult cell = unexpected_cell();
  cell.tokens_per_s.clear();
  for (int i = 0; i < 64; ++i) {
    const double rate = 1000.0 + i;
    cell.tokens_per_s.emplace_back("drafter" + std::to_string(i),
                                   i < 2 ? result::Spread() : stats::spread(std::vector<double>(3, rate)));
    for (int k = 0; k < 40; ++k)
      cell.trial_results[0].schedule.push_back(
          pass(100 + i * 40 + k, "drafter" + std::to_string(i), "queue.put.enter", -1));
  }
  return cell;
}

CellResult odd_characters_cell() {
  CellResult cell = unexpected_cell();
  const std::string odd =
      "naïve \x1b[31mred\x1b[0m <b>&\"bold\"</b> 日本語\nnext\tline ]]> | `code` ```` @you \xff\xc3 \u202e\a";
  cell.reasons = {odd};
  for (TrialResult& trial : cell.trial_results)
    for (Fault& fault : trial.faults) {
      fault.message = odd;
      fault.others = odd;
    }
  return cell;
}

CellResult long_messages_cell() {
  CellResult cell = unexpected_cell();
  std::string words;
  for (int i = 0; i < 2000; ++i)
    words += "word" + std::to_string(i) + " ";
  cell.reasons = {words, std::string(5000, 'x'), words + "b", words + "c", words + "d"};
  for (TrialResult& trial : cell.trial_results)
    for (Fault& fault : trial.faults) {
      fault.message = "RuntimeError: " + std::string(5000, 'y');
      fault.others = words;
    }
  return cell;
}

RunResult wide_names() {
  const std::string prefix = "torch-2.11-cu130-nightly/version-mismatched/5-targets-3-drafters/";
  CellResult cell = unexpected_cell(), other = flaky_cell();
  cell.id = prefix + "nested-trace-with-backward/no-nested-error";
  other.id = prefix + "free/none";
  return run_of({cell, other}, 1, "an expectation failed");
}

RunResult mixed_actors() {
  CellResult cell = good_cell("cold/free", 3);
  cell.tokens_per_s = {{"writer", stats::spread(std::vector<double>{10, 20, 30})},
                       {"reader", stats::spread(std::vector<double>{2500, 2500, 2500})}};
  return held(std::move(cell));
}

std::vector<NamedCase> make_cases() {
  return {{"empty", run_of({}, 5, "nothing ran")},
          {"ok", held(good_cell("cold/one-at-a-time", 5))},
          {"expected", held(expected_cell())},
          {"unexpected", broken(unexpected_cell())},
          {"unreachable", held(unreachable_cell())},
          {"impossible", held(impossible_cell())},
          {"flaky", broken(flaky_cell())},
          {"fixed", broken(fixed_cell())},
          {"skipped", run_of({skipped_cell()}, 5, "nothing ran")},
          {"unproved", run_of({unproved_cell()}, 7, "inconclusive")},
          {"many_actors", broken(many_actors_cell())},
          {"odd_characters", broken(odd_characters_cell())},
          {"long_messages", broken(long_messages_cell())},
          {"wide_names", wide_names()},
          {"mixed_actors", mixed_actors()},
          {"all_together", run_of({expected_cell(), good_cell("cold/one-at-a-time", 5), flaky_cell(),
                                   unreachable_cell(), impossible_cell(), skipped_cell()},
                                  1, "an expectation failed")}};
}

} // namespace

CellResult good_cell(const std::string& id, int trials) {
  CellResult cell;
  cell.id = id;
  cell.toolkit = "current";
  cell.cache = id.substr(0, id.find('/'));
  cell.layout = "1t3d";
  cell.layout_text = "1t3d on CPU";
  cell.interleaving = id.substr(id.find('/') + 1);
  cell.trials = cell.realised = trials;
  cell.controlled = true;
  cell.verdict = Verdict::ok;
  const auto rate = stats::spread(std::vector<double>(static_cast<std::size_t>(trials), 1900));
  cell.tokens_per_s = {{"drafter0", rate}, {"drafter1", rate}, {"drafter2", rate}};
  cell.total_tokens_per_s = stats::spread(std::vector<double>(static_cast<std::size_t>(trials), 5600));
  cell.tracer_entries = {{"PythonKeyTracer from compiled call", 3 * trials}, {"create_block_mask", 0}};
  cell.repeat = "racelab run scenarios/cold_cache_3drafters.yaml -k " + id;
  for (int i = 1; i <= trials; ++i) {
    TrialResult trial;
    trial.index = i;
    trial.status = ScheduleStatus::realised;
    trial.wall_s = 1.5;
    cell.trial_results.push_back(std::move(trial));
  }
  return cell;
}

TrialResult nested_trial(int index) {
  TrialResult trial;
  trial.index = index;
  trial.status = ScheduleStatus::realised;
  trial.wall_s = 1.5;
  trial.faults = {
      {.kind = "nested_tracing",
       .actor = "drafter1",
       .event = 6, // between its own pass and drafter0's next one
       .message = "RuntimeError: Detected that you are using FX to symbolically trace a dynamo-optimized function. "
                  "This is not supported at the moment.",
       .stack = "",
       .others = "drafter0 was inside fx.trace"}};
  if (index > 1)
    return trial;
  trial.replay = "cold-nested-trace.replay.json";
  trial.schedule = {pass(3, "drafter0", "fx.trace.enter", 0), pass(5, "drafter1", "compiled_call.enter", 1),
                    pass(8, "drafter0", "fx.trace.exit", 3), pass(9, "drafter2", "compiled_call.enter", -1)};
  return trial;
}

void PrintTo(const NamedCase& one, std::ostream* out) {
  *out << one.name;
}

const std::vector<NamedCase>& all_cases() {
  static const std::vector<NamedCase> cases = make_cases();
  return cases;
}

const RunResult& case_named(std::string_view name) {
  for (const NamedCase& one : all_cases())
    if (one.name == name)
      return one.run;
  RACELAB_ASSERT(!"no such case");
  return all_cases().front().run;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
  }
  return lines;
}

std::string missing_lines(std::string_view text, const std::vector<std::string>& patterns) {
  const std::vector<std::string> lines = lines_of(text);
  std::size_t next = 0;
  for (const std::string& pattern : patterns) {
    const std::regex regex(pattern);
    while (next < lines.size() && !std::regex_search(lines[next], regex))
      ++next;
    if (next == lines.size())
      return "no line (any more) matches '" + pattern + "' in:\n" + std::string(text);
    ++next;
  }
  return {};
}

} // namespace racelab::report

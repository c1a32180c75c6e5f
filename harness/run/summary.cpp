#include "run/summary.h"

#include "base/text.h"
#include "oracle/oracle.h"
#include "stats/stats.h"

#include <algorithm>
#include <set>

namespace racelab::run {

using result::CellResult;
using result::ScheduleStatus;
using result::Verdict;

namespace {

const char* frequency_name(scenario::Frequency frequency) {
  switch (frequency) {
  case scenario::Frequency::always:
    return "always";
  case scenario::Frequency::never:
    return "never";
  case scenario::Frequency::sometimes:
    return "sometimes";
  case scenario::Frequency::any:
    return "any";
  }
  return "?";
}

void add_proportion(CellResult& cell, const std::string& kind) {
  int k = 0;
  for (const auto& trial : cell.trial_results) {
    k += std::any_of(trial.faults.begin(), trial.faults.end(), [&](const auto& f) { return f.kind == kind; }) ? 1 : 0;
  }
  const result::Proportion proportion = stats::proportion(k, cell.trials);
  const auto at = std::find_if(cell.faults.begin(), cell.faults.end(), [&](const auto& f) { return f.first == kind; });
  if (at != cell.faults.end()) {
    at->second = proportion;
  } else {
    cell.faults.emplace_back(kind, proportion);
  }
}

bool is_expected_fault(const CellResult& cell, const std::string& kind) {
  return std::any_of(cell.expected.begin(), cell.expected.end(),
                     [&](const auto& e) { return e.first == kind && e.second != "never"; });
}

void count_statuses(CellResult& cell) {
  for (const auto& trial : cell.trial_results) {
    switch (trial.status) {
    case ScheduleStatus::realised:
      ++cell.realised;
      break;
    case ScheduleStatus::unreachable:
      ++cell.unreachable;
      break;
    case ScheduleStatus::impossible:
      ++cell.impossible;
      break;
    case ScheduleStatus::diverged:
      ++cell.diverged;
      break;
    case ScheduleStatus::unproved:
      ++cell.unproved;
      break;
    case ScheduleStatus::free:
      break;
    }
  }
}

void measure(CellResult& cell) {
  std::vector<double> totals;
  std::map<std::string, std::vector<double>> steady, first;
  for (const auto& trial : cell.trial_results) {
    if (trial.total_tokens_per_s > 0) {
      totals.push_back(trial.total_tokens_per_s);
    }
    for (const auto& actor : trial.throughput) {
      auto& rates = steady[actor.actor]; // an actor without a rate (it died in its first step) is shown without one
      if (actor.steady_tokens_per_s > 0) {
        rates.push_back(actor.steady_tokens_per_s);
      }
      if (actor.first_step_s > 0) {
        first[actor.actor].push_back(actor.first_step_s);
      }
    }
    if (!trial.cache_outcome.empty()) {
      ++cell.cache_outcomes[trial.cache_outcome];
    }
    if (trial.cache_mended) {
      cell.cache_mended = cell.cache_mended.value_or(0) + (*trial.cache_mended ? 1 : 0);
    }
    for (const auto& [who, count] : trial.tracer_entries) {
      cell.tracer_entries[who] += count;
    }
  }
  cell.total_tokens_per_s = stats::spread(totals);
  for (const auto& [actor, values] : steady) {
    cell.tokens_per_s.emplace_back(actor, stats::spread(values));
  }
  for (const auto& [actor, values] : first) {
    cell.first_step_s.emplace_back(actor, stats::spread(values));
  }
}

// The cell's id in a run with its toolkit alone, where the id does not name it.
std::string id_without_toolkit(const scenario::Cell& cell) {
  const std::string suffix = "/" + cell.toolkit;
  return cell.id.ends_with(suffix) ? cell.id.substr(0, cell.id.size() - suffix.size()) : cell.id;
}

} // namespace

CellResult new_cell(const CellContext& context, const std::string& repeat_base, const std::string& toolkit_option) {
  CellResult cell;
  cell.id = context.cell.id;
  cell.toolkit = context.cell.toolkit;
  cell.cache = context.cell.cache;
  cell.layout = context.cell.layout;
  cell.interleaving = context.cell.interleaving;
  cell.mitigation = context.cell.mitigation;
  cell.layout_text = context.placement.text;
  cell.controlled = context.interleaving.kind != schedule::InterleavingKind::free;
  cell.repeat = repeat_base + toolkit_option + " -k '" + id_without_toolkit(context.cell) + "'";
  cell.cache_proof.proved = true;
  return cell;
}

void note_expectation(const scenario::CellExpectation& expectation, CellResult& cell) {
  if (!expectation.status.empty()) {
    cell.expected.emplace_back("status", base::join(expectation.status, " or "));
  }
  for (const auto& [kind, frequency] : expectation.faults) {
    cell.expected.emplace_back(kind, frequency_name(frequency));
  }
}

void note_cache(const TrialOutcome& outcome, bool first, CellResult& cell) {
  auto& proof = cell.cache_proof;
  const auto n = cache::look_ups(outcome.result.cache_counters);
  proof.hits += n.hits;
  proof.misses += n.misses;
  if (first) {
    cell.cache_changes = outcome.cache_changes;
    proof.entries_before = outcome.cache_before.files;
    proof.entries_after = outcome.cache_after.files;
    proof.bytes_before = outcome.cache_before.bytes;
    proof.bytes_after = outcome.cache_after.bytes;
    proof.message = outcome.state_message;
  }
  if (!outcome.state_proved) {
    proof.message = proof.proved ? outcome.state_message : proof.message;
    proof.proved = false;
  }
}

void summarise(CellResult& cell) {
  cell.trials = static_cast<int>(cell.trial_results.size());
  cell.realised = cell.unreachable = cell.impossible = cell.diverged = cell.unproved = 0;
  cell.faults.clear();
  cell.tokens_per_s.clear();
  cell.first_step_s.clear();
  cell.cache_outcomes.clear();
  cell.cache_mended.reset();
  cell.tracer_entries.clear();
  cell.reasons.clear();
  count_statuses(cell);
  std::set<std::string> kinds;
  for (const auto& trial : cell.trial_results) {
    for (const auto& fault : trial.faults) {
      kinds.insert(fault.kind);
    }
  }
  for (const auto& kind : oracle::fault_kinds()) { // in the vocabulary's order
    if (kinds.erase(kind.name) > 0 || is_expected_fault(cell, kind.name)) {
      add_proportion(cell, kind.name);
    }
  }
  for (const std::string& kind : kinds) { // the scenario's own
    add_proportion(cell, kind);
  }
  measure(cell);
}

void add_slow_faults(const scenario::CellExpectation& expectation, CellResult& cell) {
  if (expectation.tokens_per_s.empty()) {
    return;
  }
  for (auto& trial : cell.trial_results) {
    std::erase_if(trial.faults, [](const result::Fault& f) { return f.kind == "slow"; }); // of a run that is resumed
    const auto slow = oracle::slow_faults(trial, expectation.tokens_per_s);
    trial.faults.insert(trial.faults.end(), slow.begin(), slow.end());
  }
  add_proportion(cell, "slow");
}

base::ExitCode exit_code_of(const result::RunResult& run, bool interrupted) {
  if (interrupted) {
    return base::ExitCode::interrupted;
  }
  bool ran = false, failed = false, unproved = false;
  for (const CellResult& cell : run.cells) {
    ran = ran || cell.trials > 0;
    failed = failed || cell.verdict == Verdict::failed || cell.verdict == Verdict::fixed;
    unproved = unproved || cell.verdict == Verdict::inconclusive;
  }
  if (!ran) {
    return base::ExitCode::nothing_ran;
  }
  return failed ? base::ExitCode::expectation_failed : (unproved ? base::ExitCode::inconclusive : base::ExitCode::ok);
}

std::string meaning_of(base::ExitCode code) {
  switch (code) {
  case base::ExitCode::ok:
    return "everything expected held";
  case base::ExitCode::expectation_failed:
    return "an expectation failed";
  case base::ExitCode::usage:
    return "usage or scenario error";
  case base::ExitCode::internal:
    return "internal error";
  case base::ExitCode::gate_regression:
    return "gate: regression";
  case base::ExitCode::nothing_ran:
    return "nothing ran";
  case base::ExitCode::replay_diverged:
    return "replay diverged";
  case base::ExitCode::inconclusive:
    return "inconclusive";
  case base::ExitCode::environment:
    return "the environment is not fit";
  case base::ExitCode::interrupted:
    return "interrupted; what was finished is reported";
  }
  return "?";
}

} // namespace racelab::run

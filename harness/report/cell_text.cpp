#include "report/cell_text.h"

#include "base/text.h"
#include "report/display.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace racelab::report {

using result::CellResult;
using result::Fault;
using result::RunResult;
using result::TrialResult;
using result::Verdict;

namespace {

constexpr std::string_view k_none = "–";

const std::string* expectation_of(const CellResult& cell, const std::string& kind) {
  for (const auto& [name, expectation] : cell.expected)
    if (name == kind)
      return &expectation;
  return nullptr;
}

// The status of all trials, if they share one other than realised.
std::string_view common_failure(const CellResult& cell) {
  if (cell.trials == 0)
    return {};
  return cell.unreachable == cell.trials  ? "unreachable"
         : cell.impossible == cell.trials ? "impossible"
         : cell.diverged == cell.trials   ? "diverged"
         : cell.unproved == cell.trials   ? "unproved"
                                          : "";
}

const Fault* first_fault(const CellResult& cell, const TrialResult& trial, bool expected) {
  for (const Fault& fault : trial.faults)
    if (expects(cell, fault.kind) == expected)
      return &fault;
  return nullptr;
}

} // namespace

std::vector<std::string> cell_name_parts(const CellResult& cell) {
  std::vector<std::string> parts = base::split(cell.id, '/');
  for (std::string& part : parts)
    part = printable(part);
  return parts;
}

std::string cell_name(const CellResult& cell) {
  return base::join(cell_name_parts(cell), " × ");
}

std::string verdict_word(Verdict verdict) {
  switch (verdict) {
  case Verdict::expected:
    return "EXPECTED";
  case Verdict::ok:
    return "ok";
  case Verdict::failed:
    return "FAILED";
  case Verdict::flaky:
    return "FLAKY";
  case Verdict::fixed:
    return "FIXED?";
  case Verdict::skipped:
    return "skipped";
  case Verdict::inconclusive:
    return "UNPROVED";
  }
  return {};
}

std::string realised_text(const CellResult& cell) {
  const std::string_view failure = common_failure(cell);
  if (!failure.empty())
    return std::string(failure);
  if (!cell.controlled || cell.trials == 0)
    return std::string(k_none);
  return fmt::format("{}/{}", cell.realised, cell.trials);
}

std::vector<FaultText> fault_texts(const CellResult& cell) {
  std::vector<FaultText> texts;
  for (const auto& [kind, seen] : cell.faults) {
    const std::string* expectation = expectation_of(cell, kind);
    const bool missing = expectation != nullptr && (*expectation == "always" || *expectation == "sometimes");
    if (seen.n == 0 || (seen.k == 0 && !missing))
      continue;
    const bool mixed = 0 < seen.k && seen.k < seen.n;
    texts.push_back({printable(kind), fmt::format("{}/{}", seen.k, seen.n),
                     mixed ? fmt::format("[{:.2f},{:.2f}]", seen.low, seen.high) : ""});
  }
  if (texts.empty() && cell.trials > 0)
    texts.push_back({"none", fmt::format("0/{}", cell.trials), ""});
  return texts;
}

std::string to_string(const FaultText& text) {
  return text.kind + " " + text.count + (text.interval.empty() ? "" : " " + text.interval);
}

bool expects(const CellResult& cell, const std::string& kind) {
  const std::string* expectation = expectation_of(cell, kind);
  return expectation != nullptr && *expectation != "never";
}

bool has_unexpected_fault(const CellResult& cell) {
  return std::any_of(cell.faults.begin(), cell.faults.end(),
                     [&](const auto& fault) { return fault.second.k > 0 && !expects(cell, fault.first); });
}

std::vector<std::string> telling_reasons(const CellResult& cell) {
  const bool held = cell.verdict == Verdict::ok || cell.verdict == Verdict::expected;
  if (held && cell.unreachable + cell.impossible + cell.diverged + cell.unproved == 0)
    return {};
  std::vector<std::string> reasons;
  const auto add = [&](const std::string& reason) {
    std::string text = printable(reason);
    if (!text.empty() && std::find(reasons.begin(), reasons.end(), text) == reasons.end())
      reasons.push_back(std::move(text));
  };
  if (cell.skipped)
    add(*cell.skipped);
  for (const std::string& reason : cell.reasons)
    add(reason);
  for (const TrialResult& trial : cell.trial_results)
    if (reasons.empty())
      add(trial.status_reason);
  return reasons;
}

std::string rate_text(const result::Spread& spread) {
  return spread.n == 0 || !std::isfinite(spread.median) ? std::string(k_none) : base::format_si(spread.median);
}

std::string folded_rates(const CellResult& cell) {
  double low = 0, high = 0;
  std::size_t count = 0;
  for (const auto& [actor, spread] : cell.tokens_per_s) {
    if (spread.n == 0 || !std::isfinite(spread.median))
      continue;
    low = count == 0 ? spread.median : std::min(low, spread.median);
    high = count == 0 ? spread.median : std::max(high, spread.median);
    ++count;
  }
  if (count == 0)
    return std::string(k_none);
  const std::size_t all = cell.tokens_per_s.size();
  const std::string least = base::format_si(low), most = base::format_si(high);
  return fmt::format("{} ({})", least == most ? least : least + "…" + most,
                     count == all ? fmt::format("{}", all) : fmt::format("{} of {}", count, all));
}

FaultChoice choose_faults(const RunResult& run, std::size_t at_most) {
  std::vector<ShownFault> unexpected, expected;
  std::set<std::string> kinds;
  for (const CellResult& cell : run.cells) {
    bool cell_has_one = false;
    for (const TrialResult& trial : cell.trial_results) {
      const Fault* surprise = cell_has_one ? nullptr : first_fault(cell, trial, false);
      if (surprise != nullptr) {
        unexpected.push_back({&cell, &trial, surprise, false});
        cell_has_one = true;
      }
      bool shown = surprise != nullptr; // one block a trial: its other faults are in the same schedule
      for (const Fault& fault : trial.faults) {
        if (expects(cell, fault.kind) && kinds.insert(fault.kind).second && !shown) {
          expected.push_back({&cell, &trial, &fault, true});
          shown = true;
        }
      }
    }
  }
  FaultChoice choice;
  choice.shown = std::move(unexpected);
  choice.shown.insert(choice.shown.end(), expected.begin(), expected.end());
  if (choice.shown.size() > at_most) {
    choice.more = static_cast<int>(choice.shown.size() - at_most);
    choice.shown.resize(at_most);
  }
  return choice;
}

std::string fault_title(const ShownFault& shown) {
  std::string title = printable(shown.fault->kind);
  if (!shown.fault->actor.empty())
    title += " in " + printable(shown.fault->actor);
  if (shown.trial->faults.size() > 1)
    title += fmt::format(" (and {} more)", shown.trial->faults.size() - 1);
  return title + fmt::format(", {}, trial {}", cell_name(*shown.cell), shown.trial->index);
}

AgainCommand command_to_see_again(const RunResult& run, const ShownFault& shown) {
  std::string file = shown.trial->replay;
  if (!file.empty()) {
    const bool complete = file.front() == '/' || run.directory.empty() || file.starts_with(run.directory + "/");
    if (!complete)
      file = run.directory + (run.directory.ends_with('/') ? "" : "/") + file;
    return {"replay", "racelab replay " + printable(shell_word(file))};
  }
  if (!shown.cell->repeat.empty())
    return {"repeat", printable(shown.cell->repeat)};
  return {};
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0 || seconds > 1e9)
    return "? s";
  if (seconds >= 120)
    return base::format_duration(std::chrono::milliseconds(std::llround(seconds * 1000)));
  return seconds >= 10 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.2g} s", seconds);
}

std::string totals_text(const RunResult& run) {
  int trials = 0, skipped = 0;
  for (const CellResult& cell : run.cells) {
    trials += cell.trials;
    skipped += cell.skipped ? 1 : 0;
  }
  const auto plural = [](std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("{}{}, {} in {}", plural(run.cells.size(), "cell"),
                     skipped > 0 ? fmt::format(" ({} skipped)", skipped) : "",
                     plural(static_cast<std::size_t>(trials), "trial"), seconds_text(run.seconds));
}

std::string toolkit_text(const result::ToolkitInfo& toolkit) {
  constexpr std::size_t k_git_digits = 10;
  std::vector<std::string> parts;
  if (!toolkit.torch.empty()) {
    const std::string git = toolkit.torch_git.substr(0, k_git_digits);
    parts.push_back("torch " + toolkit.torch + (git.empty() ? "" : " (" + git + ")"));
  }
  if (!toolkit.triton.empty())
    parts.push_back("triton " + toolkit.triton);
  if (!toolkit.python.empty())
    parts.push_back("Python " + toolkit.python);
  if (parts.empty())
    parts.push_back("nothing known of it");
  return printable(base::join(parts, ", "));
}

std::string gpus_text(const result::MachineInfo& machine) {
  if (machine.gpus.empty())
    return "no GPU";
  std::map<std::string, int> counts;
  for (const std::string& gpu : machine.gpus)
    ++counts[printable(gpu)];
  std::vector<std::string> parts;
  parts.reserve(counts.size());
  for (const auto& [name, count] : counts)
    parts.push_back(fmt::format("{} × {}", count, name));
  return base::join(parts, ", ");
}

std::vector<CacheOutcomeRow> cache_outcome_rows(const result::RunResult& run) {
  std::vector<CacheOutcomeRow> rows;
  for (const result::CellResult& cell : run.cells) {
    if (cell.cache_outcomes.empty())
      continue;
    std::string outcome;
    for (const auto& [what, trials] : cell.cache_outcomes)
      outcome += fmt::format("{}{} {}/{}", outcome.empty() ? "" : ", ", what, trials, cell.trials);
    if (cell.cache_mended)
      outcome += fmt::format("; damage left {}/{}", cell.trials - *cell.cache_mended, cell.trials);
    std::string change = cell.cache_changes.empty() ? "" : cell.cache_changes.front();
    if (cell.cache_changes.size() > 1)
      change = fmt::format("{} (and {} more)", change, cell.cache_changes.size() - 1);
    rows.push_back({printable(cell.id), printable(outcome), printable(change)});
  }
  return rows;
}

} // namespace racelab::report

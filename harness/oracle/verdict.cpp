// From a cell's trials and what the scenario expects to its verdict.
#include "oracle/oracle.h"

#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace racelab::oracle {

using result::CellResult;
using result::Verdict;
using scenario::CellExpectation;
using scenario::Frequency;

namespace {

Frequency frequency_of(const CellExpectation& expectation, const std::string& kind) {
  for (const auto& [name, frequency] : expectation.faults) {
    if (name == kind) {
      return frequency;
    }
  }
  return Frequency::never;
}

int count_of(const CellResult& cell, const std::string& kind) {
  for (const auto& [name, proportion] : cell.faults) {
    if (name == kind) {
      return proportion.k;
    }
  }
  return 0;
}

// Verdicts by weight: the heaviest of a cell's findings is the cell's.
int weight(Verdict verdict) {
  switch (verdict) {
  case Verdict::failed:
    return 6;
  case Verdict::fixed:
    return 5;
  case Verdict::inconclusive:
    return 4;
  case Verdict::flaky:
    return 3;
  case Verdict::expected:
    return 2;
  case Verdict::ok:
    return 1;
  case Verdict::skipped:
    return 0;
  }
  return 0;
}

class Judgement {
public:
  explicit Judgement(CellResult& cell) : m_cell(cell) { m_cell.verdict = Verdict::ok; }

  void find(Verdict verdict, const std::string& reason = {}) {
    if (!reason.empty()) {
      if (weight(verdict) > weight(m_cell.verdict)) {
        m_cell.reasons.insert(m_cell.reasons.begin(), reason);
      } else {
        m_cell.reasons.push_back(reason);
      }
    }
    if (weight(verdict) > weight(m_cell.verdict)) {
      m_cell.verdict = verdict;
    }
  }

private:
  CellResult& m_cell;
};

void judge_fault(const CellResult& cell, const std::string& kind, Frequency frequency, Judgement& judgement) {
  const int k = count_of(cell, kind), n = cell.trials;
  if (k == 0 && cell.controlled && cell.realised == 0 && frequency != Frequency::never) {
    return; // the order that should bring the fault was never there: that says nothing about the fault
  }
  switch (frequency) {
  case Frequency::always:
    if (k == n) {
      judgement.find(Verdict::expected);
    } else if (k == 0) {
      judgement.find(Verdict::fixed, kind + " is expected in every trial and was seen in none: fixed?");
    } else {
      judgement.find(Verdict::failed,
                     fmt::format("{} is expected in every trial and was seen in {} of {}", kind, k, n));
    }
    break;
  case Frequency::never:
    if (k > 0) {
      judgement.find(Verdict::failed, fmt::format("{} is not expected and was seen in {} of {} trials", kind, k, n));
    }
    break;
  case Frequency::sometimes:
    if (k == 0) {
      judgement.find(Verdict::fixed,
                     fmt::format("{} is expected at least once and was not seen in {} trials: fixed?", kind, n));
    } else {
      judgement.find(k == n ? Verdict::expected : Verdict::flaky);
    }
    break;
  case Frequency::any:
    if (k > 0) {
      judgement.find(k == n ? Verdict::expected : Verdict::flaky);
    }
    break;
  }
}

void judge_status(const CellResult& cell, const CellExpectation& expectation, Judgement& judgement) {
  const std::pair<const char*, int> counts[] = {{"realised", cell.realised},
                                                {"unreachable", cell.unreachable},
                                                {"impossible", cell.impossible},
                                                {"diverged", cell.diverged}};
  std::string first_reason;
  for (const auto& trial : cell.trial_results) {
    if (!trial.status_reason.empty()) {
      first_reason = trial.status_reason;
      break;
    }
  }
  if (cell.unproved > 0) {
    judgement.find(Verdict::inconclusive,
                   fmt::format("unproved in {} of {} trials: {}", cell.unproved, cell.trials, first_reason));
  }
  if (!cell.controlled) {
    return;
  }
  for (const auto& [status, count] : counts) {
    if (count == 0) {
      continue;
    }
    const bool said = !expectation.status.empty();
    const bool accepted =
        said ? std::find(expectation.status.begin(), expectation.status.end(), status) != expectation.status.end()
             : std::string(status) == "realised";
    if (!accepted) {
      judgement.find(said ? Verdict::failed : Verdict::inconclusive,
                     fmt::format("the order was {} in {} of {} trials{}{}{}", status, count, cell.trials,
                                 said ? " (expected: " + base::join(expectation.status, " or ") + ")" : "",
                                 first_reason.empty() ? "" : ": ", first_reason));
    } else if (std::string(status) != "realised") {
      judgement.find(Verdict::ok, first_reason);
    }
  }
}

} // namespace

void judge(CellResult& cell, const CellExpectation& expectation) {
  if (cell.skipped) {
    cell.verdict = Verdict::skipped;
    return;
  }
  Judgement judgement(cell);
  if (cell.trials == 0) {
    judgement.find(Verdict::inconclusive, cell.cache_proof.proved ? "no trial ran"
                                                                  : "no trial ran: the cache state is not proved: " +
                                                                        cell.cache_proof.message);
    return;
  }
  judge_status(cell, expectation, judgement);
  if (!cell.cache_proof.proved) {
    judgement.find(Verdict::inconclusive, "the cache state is not proved: " + cell.cache_proof.message);
  }
  std::vector<std::string> kinds;
  const auto add = [&](const std::string& kind) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      kinds.push_back(kind);
    }
  };
  for (const FaultKind& kind : fault_kinds()) {
    add(kind.name);
  }
  for (const auto& [kind, proportion] : cell.faults) { // a scenario's own
    add(kind);
  }
  for (const auto& [kind, frequency] : expectation.faults) {
    add(kind);
  }
  for (const std::string& kind : kinds) {
    judge_fault(cell, kind, frequency_of(expectation, kind), judgement);
  }
}

} // namespace racelab::oracle

#pragma once
// What reports of every form say about a cell and in which words; no layout, no markup. Everything returned is
// printable.
#include "result/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace racelab::report {

// "cold × nested-trace".
std::string cell_name(const result::CellResult& cell);
// Its parts: "cold", "nested-trace".
std::vector<std::string> cell_name_parts(const result::CellResult& cell);

// The word in the last column: EXPECTED, ok, FAILED, FLAKY, FIXED?, skipped, UNPROVED.
std::string verdict_word(result::Verdict verdict);

// How many trials realised their order: "5/5"; "unreachable" and the like where that is what became of all of them; "–"
// where no order was asked for or nothing ran.
std::string realised_text(const result::CellResult& cell);

struct FaultText {
  std::string kind;     // "none" where there was none
  std::string count;    // "3/5"
  std::string interval; // "[0.23,0.88]"; empty where all trials agree
};

// Kinds that were seen, and those that were expected and are missing; "none 0/5" if that leaves nothing. Empty: no
// trial ran.
std::vector<FaultText> fault_texts(const result::CellResult& cell);
std::string to_string(const FaultText& text);

// Whether the scenario reckons with this fault in this cell: it says anything but "never".
bool expects(const result::CellResult& cell, const std::string& kind);
bool has_unexpected_fault(const result::CellResult& cell);

// Why the verdict is what it is, the most telling first; empty where it needs no reason (ok or expected, and the order
// was realised).
std::vector<std::string> telling_reasons(const result::CellResult& cell);

// "1.9 k"; "–" where there is none.
std::string rate_text(const result::Spread& spread);
// Rates of all actors in one: "1.2 k…1.9 k (3)", "1.9 k (1 of 3)".
std::string folded_rates(const result::CellResult& cell);

// A fault worth a block of its own.
struct ShownFault {
  const result::CellResult* cell = nullptr;
  const result::TrialResult* trial = nullptr;
  const result::Fault* fault = nullptr;
  bool expected = false;
};

struct FaultChoice {
  std::vector<ShownFault> shown; // unexpected ones first
  int more = 0;                  // left out for the sake of `at_most`
};

// The first unexpected fault of each cell, and the first expected one of each kind.
FaultChoice choose_faults(const result::RunResult& run, std::size_t at_most);

// "nested_tracing in drafter1 (and 1 more), cold × nested-trace, trial 1".
std::string fault_title(const ShownFault& shown);

// The command that shows the fault again, and what it is: "replay" of the very schedule, or "repeat" of the cell.
struct AgainCommand {
  std::string label; // empty: there is none
  std::string command;
};
AgainCommand command_to_see_again(const result::RunResult& run, const ShownFault& shown);

// "61 s", "0.35 s", "12m 5s".
std::string seconds_text(double seconds);

// "5 cells (1 skipped), 25 trials in 61 s".
std::string totals_text(const result::RunResult& run);

// "torch 2.11.0+cu130 (70d99e998b), triton 3.6.0, Python 3.11.7".
std::string toolkit_text(const result::ToolkitInfo& toolkit);
// "2 × NVIDIA H200", "no GPU".
std::string gpus_text(const result::MachineInfo& machine);

// One cell whose cache was changed: "aot.swap", "used a wrong artefact 3/3", "aot: … has the content of …".
struct CacheOutcomeRow {
  std::string cell, outcome, change;
};
std::vector<CacheOutcomeRow> cache_outcome_rows(const result::RunResult& run);

} // namespace racelab::report

#pragma once
// From a cell's trials to its figures, and from cells to the run's exit code. Pure.
#include "base/error.h"
#include "result/result.h"
#include "run/cell_context.h"
#include "run/trial_runner.h"
#include "scenario/expand.h"

#include <string>

namespace racelab::run {

// A cell that nothing is known of yet but what it is.
// `toolkit_option`: what its repetition needs to run on the same toolkit, such as " --toolkit torch-2.15".
result::CellResult new_cell(const CellContext& context, const std::string& repeat_base,
                            const std::string& toolkit_option);

void note_expectation(const scenario::CellExpectation& expectation, result::CellResult& cell);

// Adds one trial's cache figures; the cell's state is proved if it was in every trial.
void note_cache(const TrialOutcome& outcome, bool first, result::CellResult& cell);

// Fills counts, proportions and spreads from cell.trial_results.
void summarise(result::CellResult& cell);

// Adds faults of kind `slow` to the trials, and their proportion to the cell.
void add_slow_faults(const scenario::CellExpectation& expectation, result::CellResult& cell);

base::ExitCode exit_code_of(const result::RunResult& run, bool interrupted);
std::string meaning_of(base::ExitCode code);

} // namespace racelab::run

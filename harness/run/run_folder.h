#pragma once
// The folder of a run: made anew, or taken up again by --resume; and result.json in it.
#include "base/files.h"
#include "result/result.h"
#include "scenario/scenario.h"

#include <optional>
#include <string>

namespace racelab::run {

// A folder of its own for every run, also for two racelabs in the same second. `wanted` empty:
// reports/runs/TIME-SCENARIO below the working directory. Throws base::UserError: it holds another run (usage), it
// cannot be made (environment).
std::string make_run_folder(const std::string& wanted, const std::string& scenario);

// The unfinished result in a folder, for --resume. Throws base::UserError (usage) if there is none.
result::RunResult read_unfinished(const std::string& folder);

// The same, of this very scenario file: a run of another one, or of an earlier text of it, is refused, too.
result::RunResult take_up_run(const std::string& folder, const scenario::Scenario& scenario);

// Holds the folder for this process until the descriptor is closed or the process is gone, so that no two racelabs
// write into one. Throws base::UserError (usage) if another one holds it.
base::UniqueFd lock_run_folder(const std::string& folder);

// The number of the first trial folder (trials/001, …) that is not there yet.
int next_trial_number(const std::string& folder);

// Writes result.json. Throws base::UserError (environment).
void write_result(const result::RunResult& result);

} // namespace racelab::run

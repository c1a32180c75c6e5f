#pragma once
// A whole run: cells of a scenario in order, their trials, their verdicts, and the files that they leave.
#include "base/error.h"
#include "base/files.h"
#include "result/result.h"
#include "run/cell_context.h"
#include "run/trial_runner.h"
#include "scenario/scenario.h"
#include "schedule/catalogue.h"
#include "toolkit/toolkit.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace racelab::report {
class ProgressReporter;
}

namespace racelab::run {

struct RunOptions {
  std::string output;        // the run's folder; empty: reports/runs/TIME-SCENARIO below the working directory
  std::string pattern;       // -k: only cells that match
  std::optional<int> trials; // instead of the scenario's numbers
  std::optional<layout::Devices> devices;             // instead of the machine's
  bool resume = false;                                // finish the run that is in `output`
  bool fail_fast = false;                             // stop after the first cell that failed
  std::vector<std::string> command;                   // as typed, for the result and for repeating
  std::map<std::string, std::string> toolkit_options; // toolkit -> what chooses it: " --toolkit PATH"
  std::string repeat_base;                            // "racelab run FILE" with the options that a repetition needs
};

// The cells that a run would have, with what each resolves to on this machine.
std::vector<CellContext> plan_cells(const scenario::Scenario& scenario, const RunOptions& options,
                                    toolkit::ToolkitSource& toolkits);

class Runner {
public:
  Runner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue, RunOptions options,
         toolkit::ToolkitSource& toolkits, report::ProgressReporter& progress);

  // Runs everything and writes result.json after every trial that takes a while, and after every cell. Throws
  // base::UserError where nothing can run at all; what goes wrong later ends the run, with what was finished in the
  // result.
  result::RunResult run();

  // What ended the run early: empty, or the message for the user.
  const std::string& problem() const { return m_problem; }
  bool is_unfinished() const { return m_interrupted || !m_problem.empty(); }

private:
  void begin(const std::vector<CellContext>& cells);
  void run_cells(const std::vector<CellContext>& cells);
  void run_cell(const CellContext& context);
  void run_trials(const CellContext& context, const cache::Sources& sources);
  TrialOutcome run_one(const CellContext& context, int index, const cache::Sources& sources, std::string& folder);
  cache::Sources sources_for(const CellContext& context);
  CellContext foreign_context(const CellContext& context);
  std::optional<cache::SnapshotStore::Snapshot> snapshot_for(const CellContext& context);
  std::size_t find_or_add_cell(const CellContext& context);
  void settle(const CellContext& context, result::CellResult& cell);
  std::string toolkit_option(const std::string& toolkit) const;
  void note(const std::string& text);
  void save();
  std::string next_trial_folder();

  const scenario::Scenario& m_scenario;
  schedule::Catalogue m_catalogue;
  RunOptions m_options;
  toolkit::ToolkitSource& m_toolkits;
  report::ProgressReporter& m_progress;
  TrialRunner m_trials;
  result::RunResult m_result;
  base::UniqueFd m_folder_lock;
  std::chrono::steady_clock::time_point m_started, m_saved;
  double m_seconds_before = 0; // of the run that is resumed
  std::string m_problem;
  base::ExitCode m_problem_code = base::ExitCode::ok;
  std::set<std::string> m_filled_snapshots; // noted in the report's head already
  int m_next_trial = 1;
  bool m_interrupted = false;
};

} // namespace racelab::run

#pragma once
// A whole run: cells of a scenario in order, their trials, their verdicts, and the files that they leave.
#include "result/result.h"
#include "run/cell_context.h"
#include "run/trial_runner.h"
#include "scenario/scenario.h"
#include "schedule/catalogue.h"
#include "toolkit/toolkit.h"

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
  std::optional<layout::Devices> devices; // instead of the machine's
  bool fail_fast = false;                 // stop after the first cell that failed
  std::vector<std::string> command;       // as typed, for the result and for repeating
  std::string repeat_base;                // "racelab run FILE" with the options that a repetition needs
};

// The cells that a run would have, with what each resolves to on this machine.
std::vector<CellContext> plan_cells(const scenario::Scenario& scenario, const RunOptions& options,
                                    toolkit::ToolkitSource& toolkits);

class Runner {
public:
  Runner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue, RunOptions options,
         toolkit::ToolkitSource& toolkits, report::ProgressReporter& progress);

  // Runs everything and writes result.json after every cell. Throws base::UserError where nothing can run at all.
  result::RunResult run();

private:
  void run_cell(const CellContext& context);
  std::optional<cache::SnapshotStore::Snapshot> snapshot_for(const CellContext& context);
  bool run_trials(const CellContext& context, result::CellResult& cell,
                  const std::optional<cache::SnapshotStore::Snapshot>& snapshot);
  void write_result();
  void conclude(double seconds);
  std::string trial_folder(int number) const;

  const scenario::Scenario& m_scenario;
  schedule::Catalogue m_catalogue;
  RunOptions m_options;
  toolkit::ToolkitSource& m_toolkits;
  report::ProgressReporter& m_progress;
  TrialRunner m_trials;
  result::RunResult m_result;
  std::set<std::string> m_told_snapshots; // noted in the report's head already
  int m_next_trial = 1;
  bool m_interrupted = false;
};

} // namespace racelab::run

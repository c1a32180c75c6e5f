#pragma once
// Runs single trials: private folders, board, launch, record, oracles.
#include "base/files.h"
#include "base/paths.h"
#include "cache/caches.h"
#include "launch/starters.h"
#include "result/result.h"
#include "run/cell_context.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace racelab::run {

// A folder that is removed with everything in it when it goes. A racelab that was killed leaves its own behind; the
// next one removes it (each holds a lock on a file in its folder as long as it lives).
class ScratchFolder {
public:
  // A new folder below base::temporary_root(). Throws base::UserError (environment).
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return m_path; }

private:
  std::string m_path;
  base::UniqueFd m_lock;
};

// One trial's outcome with what a cell needs of its caches.
struct TrialOutcome {
  result::TrialResult result;
  cache::TreeSize cache_before, cache_after;
  bool uses_inductor = false; // its cache has files afterwards; torch counts look-ups of these only
  result::EndKind end = result::EndKind::exited;
  std::string end_message;
  bool state_proved = false;
  std::string state_message;
  std::vector<std::string> cache_changes; // what was done to the cache before
  cache::Results results;                 // where the scenario compares them
  std::vector<std::string> warnings;      // what the agent could not do, and what was lost; for the head of the report
};

// What one trial is to do.
struct TrialRequest {
  const CellContext& context;
  const schedule::Interleaving& interleaving;
  int index = 0;          // within its cell, from 1
  std::string folder;     // absolute; made; the trial's files go there
  cache::Sources sources; // what the cache's state is made from; `own` also has the results to compare with
  // This trial only fills a cache: another thread's tracing flag is hidden from compiled calls, so that it cannot fail.
  bool fills_cache = false;
  // Called with the folder of the trial's caches before they are removed.
  std::function<void(const std::string&)> keep_caches = {};
};

class TrialRunner {
public:
  TrialRunner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue);

  TrialOutcome run(const TrialRequest& request);

  // Starts what runs the cell's trials, if it is to be started beforehand. Seconds, 0 if there was nothing to do.
  double warm_up(const CellContext& context);

  // Where snapshots of warm caches are kept: in the user's cache folder, or for this run only where that cannot be
  // written.
  std::string snapshot_folder() const { return base::cache_folder_or("snapshots", m_scratch.path()); }

private:
  launch::ProcessStarter& starter_for(const CellContext& context);
  launch::ForkServer& fork_server_for(const CellContext& context);
  void judge(const TrialRequest& request, const result::TrialRecord& record, const launch::TrialSpec& spec,
             std::optional<bool> mended, TrialOutcome& outcome) const;
  void count_look_ups(const result::TrialRecord& record, std::map<std::string, std::int64_t>& counters) const;
  bool uses_fork_server(const CellContext& context) const;
  launch::TrialSpec make_spec(const CellContext& context, const std::string& folder, const std::string& scratch) const;

  const scenario::Scenario& m_scenario;
  const schedule::Catalogue& m_catalogue;
  const cache::Inventory m_inventory;
  ScratchFolder m_scratch;
  launch::FreshStarter m_fresh;
  std::map<std::string, std::unique_ptr<launch::ForkServer>> m_servers; // by toolkit and environment
};

} // namespace racelab::run

#pragma once
// Runs single trials: private folders, board, launch, record, oracles.
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

// A folder that is removed with everything in it when it goes.
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
};

// One trial's outcome with what a cell needs of its caches.
struct TrialOutcome {
  result::TrialResult result;
  cache::TreeSize cache_before, cache_after;
  result::EndKind end = result::EndKind::exited;
  std::string end_message;
  bool state_proved = false;
  std::string state_message;
};

class TrialRunner {
public:
  TrialRunner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue);

  // Runs one trial of the cell under `interleaving` and writes its files to `folder` (absolute, made). `keep_caches`,
  // if given, is called with the folder of the trial's caches before they are removed.
  TrialOutcome run(const CellContext& context, const schedule::Interleaving& interleaving, int index,
                   const std::string& folder, const std::optional<cache::SnapshotStore::Snapshot>& snapshot,
                   const std::function<void(const std::string&)>& keep_caches = {});

  // Starts what runs the cell's trials, if it is to be started beforehand. Seconds, 0 if there was nothing to do.
  double warm_up(const CellContext& context);

private:
  launch::ProcessStarter& starter_for(const CellContext& context);
  launch::ForkServer& fork_server_for(const CellContext& context);
  bool uses_fork_server(const CellContext& context) const;
  launch::TrialSpec make_spec(const CellContext& context, const std::string& folder, const std::string& scratch) const;

  const scenario::Scenario& m_scenario;
  const schedule::Catalogue& m_catalogue;
  ScratchFolder m_scratch;
  launch::FreshStarter m_fresh;
  std::map<std::string, std::unique_ptr<launch::ForkServer>> m_servers; // by toolkit and environment
};

} // namespace racelab::run

#pragma once
// The snapshot that warm trials of a cell start from: found in the store, or filled by a serial run of the same
// pipeline.
#include "cache/caches.h"
#include "run/trial_runner.h"

#include <string>

namespace racelab::run {

struct WarmCache {
  cache::SnapshotStore::Snapshot snapshot;
  bool filled_now = false;
  bool interrupted = false; // the user stopped the fill; the snapshot is not there
  std::string note;         // for the head of the report
};

// The key of the cell's snapshot. The results of the filling run are kept with it, so that what counts as a result is
// part of it.
std::string warm_cache_key(const CellContext& context, const scenario::Scenario& scenario);

// `folder`: where the files of a filling run go. Throws base::UserError (environment) if the serial run itself fails.
WarmCache warm_cache_for(TrialRunner& trials, const CellContext& context, const scenario::Scenario& scenario,
                         const std::string& folder, const std::function<void()>& before_filling);

} // namespace racelab::run

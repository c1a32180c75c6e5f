#pragma once
// The compile caches of a trial: private folders that environment variables name, prepared in the state that a cell
// asks for.
#include "cache/tree.h"
#include "scenario/scenario.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace racelab::cache {

// A cache directory that a variable names.
struct Layer {
  std::string name;     // the folder's name in a snapshot: "inductor"
  std::string variable; // "TORCHINDUCTOR_CACHE_DIR"
};

// Inductor (with its FX-graph and AOTAutograd parts), Triton, the CUDA driver's JIT.
const std::vector<Layer>& layers();

// Variable -> folder below `root` for every layer; makes the folders.
std::vector<std::pair<std::string, std::string>> private_caches(const std::string& root);

// Snapshots of filled caches, kept by fingerprint, shared by all runs of this user. Published by rename: a snapshot is
// whole or not there, also with two racelabs at once.
class SnapshotStore {
public:
  explicit SnapshotStore(std::string root) : m_root(std::move(root)) {}

  struct Snapshot {
    std::string key;
    std::string folder; // holds one folder per layer
    TreeSize size;
    double fill_seconds = 0;
  };

  // nullopt: there is none.
  std::optional<Snapshot> find(const std::string& key) const;
  // Makes `filled` (a folder with one folder per layer; copied) the snapshot of that key. Throws base::UserError
  // (environment).
  Snapshot publish(const std::string& key, const std::string& filled, double fill_seconds,
                   const std::string& describes);

private:
  std::string m_root;
};

// Prepares `root` for one trial. `snapshot` is needed for states made from a warm cache. Throws base::UserError.
void prepare(const scenario::CacheState& state, const std::optional<SnapshotStore::Snapshot>& snapshot,
             const std::string& root);

// Does a state start from a filled cache?
bool needs_snapshot(const scenario::CacheState& state);

// Look-ups of all compile caches in a trial, from torch's own counters.
struct LookUps {
  std::int64_t hits = 0, misses = 0;
  bool told = true; // false: the pipeline was ended before it could tell
};
LookUps look_ups(const std::map<std::string, std::int64_t>& counters);

// Was the state what it claims to be?
struct Proof {
  bool proved = false;
  std::string message;
};
Proof prove(const scenario::CacheState& state, const LookUps& look_ups, const TreeSize& before, const TreeSize& after);

} // namespace racelab::cache

#pragma once
// The compile caches of a trial: private folders that environment variables name, prepared in the state that a cell
// asks for.
#include "base/powers.h"
#include "cache/damage.h"
#include "cache/layers.h"
#include "cache/tree.h"
#include "scenario/scenario.h"

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace racelab::cache {

// A cache directory that a variable names.
struct Directory {
  std::string name;     // the folder's name in a snapshot: "inductor"
  std::string variable; // "TORCHINDUCTOR_CACHE_DIR"
};

// Inductor (with its FX-graph and AOTAutograd parts), Triton, the CUDA driver's JIT.
const std::vector<Directory>& directories();

// The cache directories that a pipeline has, and what is in them.
struct Inventory {
  std::vector<Directory> directories = cache::directories();
  std::vector<Layer> layers = cache::layers();
  // Of look-ups: torch's names, and events of the scenario's own.
  std::vector<std::string> hit_counters{"aot_autograd.autograd_cache_hit", "inductor.fxgraph_cache_hit"};
  std::vector<std::string> miss_counters{"aot_autograd.autograd_cache_miss", "inductor.fxgraph_cache_miss"};
  bool counted_by_events = false; // some are of the scenario's own
};

// Those above and the ones that the scenario declares.
Inventory inventory_for(const scenario::Scenario& scenario);

// Variable -> folder below `root` for every one; makes the folders.
std::vector<std::pair<std::string, std::string>> private_caches(const std::string& root,
                                                                const std::vector<Directory>& among = directories());

// Actor -> its results in order: the numbers that a trial's are compared with (scenario key `results`).
using Results = std::map<std::string, std::vector<double>>;

// Snapshots of filled caches, kept by fingerprint, shared by all runs of this user. Published by rename: a snapshot is
// whole or not there, also with two racelabs at once.
class SnapshotStore {
public:
  explicit SnapshotStore(std::string root) : m_root(std::move(root)) {}

  struct Snapshot {
    std::string key;
    std::string folder; // holds one folder per cache directory
    TreeSize size;
    double fill_seconds = 0;
    std::string describes; // whose it is, for people
    std::string filled_at; // where the folder was when it was filled: Triton's entries name their files by that
    Results results;       // of the serial run that filled it
  };

  // nullopt: there is none.
  std::optional<Snapshot> find(const std::string& key) const;
  // Makes `filled` (a folder with one folder per cache directory; copied) the snapshot of that key. Throws
  // base::UserError (environment).
  Snapshot publish(const std::string& key, const std::string& filled, double fill_seconds, const std::string& describes,
                   const Results& results = {}, const std::string& filled_at = "");

private:
  std::string m_root;
};

// A state that cannot be had: no entry of the layer, a user whom permissions do not bind, no right to mount.
class StateImpossible : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// What a state is made from. `own` is needed for states made from a warm cache, `foreign` where another toolkit fills
// it or forges entries.
struct Sources {
  std::optional<SnapshotStore::Snapshot> own, foreign;
};

// For tests: what a machine may refuse, and what may go wrong.
struct Obstacles {
  bool no_mounts = false;
  // Called with the root when a state has been made and before it is looked at.
  std::function<void(const std::string&)> tamper = [](const std::string&) {};
};

// A prepared cache folder; what was mounted on it goes with it.
class Prepared {
public:
  // Makes `root`, and looks that the state is there. Throws StateImpossible, or base::UserError where a file cannot be
  // written for other reasons.
  Prepared(const scenario::CacheState& state, const Sources& sources, const std::string& root, Inventory inventory = {},
           Obstacles obstacles = {});
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // "fx-graph: inductor/… truncated from 8120 to 4060 bytes", one for each file; and what was mounted.
  const std::vector<std::string>& changes() const { return m_changes; }
  // After the trial: whether nothing is left of the damage; nullopt: there was none.
  std::optional<bool> is_mended() const;
  // What the trial's processes must not do, or the state would not bind them.
  const base::Confinement& confinement() const { return m_confinement; }

private:
  void copy_from(const SnapshotStore::Snapshot& source);
  void change_entries(const scenario::CacheState& state, const Sources& sources);
  void limit_room(const scenario::CacheState& state);
  void forbid_writing();
  void forbid_reading();

  std::string m_root;
  Inventory m_inventory;
  Obstacles m_obstacles;
  std::vector<std::string> m_changes;
  std::vector<Damaged> m_damaged;
  base::Confinement m_confinement;
  bool m_mounted = false;
  std::string m_no_mount; // why no file system could be mounted
};

// Does a state start from a filled cache? From one of another toolkit?
bool needs_snapshot(const scenario::CacheState& state);
bool needs_foreign(const scenario::CacheState& state);

// Look-ups of all compile caches in a trial, from torch's own counters.
struct LookUps {
  std::int64_t hits = 0, misses = 0;
  bool told = true;               // false: the pipeline was ended before it could tell
  bool counted_by_events = false; // of a cache directory of the scenario's own
  bool counted = true;            // false: nothing in the pipeline counts them (a native one without such events)
};
LookUps look_ups(const std::map<std::string, std::int64_t>& counters, const Inventory& inventory = {});

// What the trial's log says of a state that is made while it runs.
struct InTrial {
  std::int64_t removed = 0; // files and folders, at the event of `vanish_at`
  int processes = 0;        // with an agent
};

// Was the state what it claims to be?
struct Proof {
  bool proved = false;
  std::string message;
};
Proof prove(const scenario::CacheState& state, const LookUps& look_ups, const TreeSize& before, const TreeSize& after,
            const InTrial& in_trial = {});

} // namespace racelab::cache

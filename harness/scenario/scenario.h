#pragma once
// The scenario model: one YAML file as values. parse.h reads it, expand.h makes cells of it; nothing here does I/O.
#include "base/error.h"
#include "schedule/interleaving.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::scenario {

using Json = nlohmann::ordered_json;

// The program under test.
struct Pipeline {
  // Words of the command line. "python" as the first word is the toolkit's interpreter. Placeholders `{layout.ROLE}`
  // and
  // `{scenario.dir}` are replaced per cell.
  std::vector<std::string> command;
  std::string directory;                                // absolute; default: the folder of the scenario file
  std::vector<std::pair<std::string, std::string>> env; // added to the clean environment of a trial
};

// A point on the user's own code. `at` is "module:attr.attr", a function; "__main__:name" is the script itself. `line`
// is "train.py:120". Neither: the program passes the point itself, through the C interface.
struct PointDeclaration {
  std::string name;
  std::string at, line;
  bool single = false; // of the program itself: one event instead of enter and exit
  base::SourcePlace place;

  bool is_moment() const { return single || !line.empty(); }
};

// A lock of the user's own: `at` is "module:attr" of a lock object, or "module:Class.attr" for one made per instance.
// Empty: the program reports it itself, through the C interface.
struct LockDeclaration {
  std::string name;
  std::string at;
  base::SourcePlace place;
};

// Which thread is the actor `name`. All conditions given must hold; without a rule an actor has its thread's own name.
struct ActorRule {
  std::string name;    // "{n}" stands for the number of the match, from 0
  std::string thread;  // the thread's own name, a glob
  std::string entry;   // "module:function" that the thread runs
  std::string process; // "VARIABLE=VALUE" of its environment (a glob), or a glob of its command line
  std::optional<std::uint64_t> process_number; // in the order in which processes with an agent began, from 0
  std::optional<std::uint64_t> start; // only the n-th match, from 0, in the order in which threads were started
  base::SourcePlace place;
};

// Where numbers of a trial come from: the value returned by a call (`at`), or a part of it (`value`: attribute, key or
// index path, "tokens", "0.tokens"; empty: the value itself); or lines of the program's output.
struct NumbersSource {
  std::string at;
  std::string value;
  std::string output;   // ECMAScript regular expression; empty: `at` says
  int number_group = 1; // the group of `output` that is the number
  int actor_group = 0;  // the group that is the actor's name; 0: the line speaks of all, or of nobody
  base::SourcePlace place;
};

struct TokensSource : NumbersSource {
  bool is_rate = false; // the number is in tokens/s; else tokens since the line before
};

// Numbers of a trial that must be those of a serial run of the same cell with a cold cache. A tensor counts as its sum
// and the sum of its absolute values.
struct ResultsSource : NumbersSource {
  double tolerance = 1e-5; // relative to the larger of the two
};

// A fault kind of the scenario's own: a line of the pipeline's output that matches an ECMAScript regular expression.
struct OutputFault {
  std::string name;
  std::string pattern;
  base::SourcePlace place;
};

enum class CacheKind { cold, warm };

// A cache directory of the pipeline's own, beside those of torch, triton and the CUDA driver.
struct CacheDirectory {
  std::string name;     // the folder in a snapshot: "kernels"
  std::string variable; // the environment variable that tells the pipeline where it is
  // Kind of entry -> patterns of its files below the directory. At least one; by default all files, under `name`.
  std::vector<std::pair<std::string, std::vector<std::string>>> layers;
  std::string hit, miss; // events whose passes count as look-ups; empty: nobody counts
  base::SourcePlace place;
};

// Damage to some files of one layer of a filled cache; the vocabulary is in cache/damage.h and cache/layers.h.
struct Damage {
  std::string layer;      // "fx-graph"
  std::string how;        // "truncate-half"
  std::string files{};    // only paths that match, below the cache's root; empty: all of the layer
  int count = 1;          // that many, chosen by the seed; 0: all
  std::uint64_t seed = 0; // chooses files, bits and bytes
};

struct CacheState {
  std::string name;
  CacheKind kind = CacheKind::cold; // what it is made from
  base::SourcePlace place;
  std::vector<std::string> without{}; // layers that are taken out
  std::vector<Damage> damage{};
  std::string
      filled_by{}; // the toolkit whose serial run filled it; "*": another one than the cell's; empty: the cell's
  std::string forge_layer{}; // entries of this layer get the content of those that the toolkit `forge_by` wrote
  std::string forge_by{};
  std::vector<std::string> left_behind{}; // "lock", "temporary"
  bool read_only = false;
  std::uint64_t quota_bytes = 0;                 // room beyond what is there; 0: no limit
  std::optional<schedule::EventRef> vanish_at{}; // the directories are removed there; actor "*": whoever comes first
  int copies = 1;                                // that many processes of the pipeline share it

  bool needs_mounts() const { return read_only || quota_bytes > 0; }
  // Neither plainly cold nor plainly warm: what the program makes of it is to be told.
  bool is_special() const {
    return changes_entries() || !filled_by.empty() || needs_mounts() || vanish_at.has_value() || copies > 1;
  }
  // Is anything done to a filled cache?
  bool changes_entries() const {
    return !without.empty() || !damage.empty() || !forge_layer.empty() || !left_behind.empty();
  }
};

// Which role's actors sit on which logical GPU, in actor order: {target: [0], drafter: [1, 2, 3]}.
struct Layout {
  std::string name;
  std::vector<std::pair<std::string, std::vector<int>>> roles;
  int required_gpus = 0; // fewer GPUs at hand: the cell is skipped with a reason instead of folded
  base::SourcePlace place;

  int logical_devices() const; // number of distinct logical GPUs
};

// A change of the program's environment or torch configuration that somebody claims to help (or to harm).
struct Mitigation {
  std::string name;
  std::vector<std::pair<std::string, std::string>> env;
  // "torch._dynamo.config.error_on_nested_fx_trace" -> value; set in the pipeline's process as soon as the module is
  // imported.
  std::vector<std::pair<std::string, Json>> config;
  base::SourcePlace place;
};

// Which cells a rule speaks about; an empty list matches everything.
struct When {
  std::vector<std::string> cache, interleaving, layout, mitigation, toolkit_name;
  // Feature -> accepted values, e.g. "fx_flag" -> ["global"]. Features are found by looking at the toolkit.
  std::vector<std::pair<std::string, std::vector<std::string>>> features;
};

enum class Frequency {
  always,    // in every trial
  never,     // in no trial
  sometimes, // in at least one trial
  any,       // left to chance: reported, never a failure
};

struct ThroughputBound {
  std::string who;     // an actor, or "total"
  double at_least = 0; // tokens/s
};

// One rule of `expect`. Rules are applied in file order; a later one overrides an earlier one for the keys it names.
struct Expectation {
  When when;
  std::vector<std::string> status;                       // accepted schedule statuses; empty: not said
  std::vector<std::pair<std::string, Frequency>> faults; // fault kind -> how often
  std::vector<ThroughputBound> tokens_per_s;
  base::SourcePlace place;
};

// The axes to cross, in this order, by name; filled with everything the scenario defines where the file says nothing.
struct Matrix {
  std::vector<std::string> toolkits, caches, layouts, interleavings, mitigations;
  std::vector<When> exclude;
};

enum class LaunchMode { fork_server, fresh };

struct Scenario {
  std::string file;      // as given on the command line
  std::string directory; // absolute folder of the file
  std::string digest;    // hexadecimal XXH3-64 of the file's bytes
  std::string name;
  std::string about;
  Pipeline pipeline;
  std::vector<PointDeclaration> points;
  std::vector<LockDeclaration> locks;
  std::vector<ActorRule> actors;
  std::optional<TokensSource> tokens;
  std::optional<ResultsSource> results;
  std::vector<OutputFault> output_faults;
  bool protect_dead_thread_guard = true; // the agent keeps pytorch#178950 out of trials on hosts without a GPU
  std::vector<CacheDirectory> cache_directories;
  // Regions inside of which one actor at a time is, in the serial run that fills a warm cache; empty: `tokens`, or the
  // compiled call.
  std::vector<std::string> serial;
  std::vector<std::string> record; // points and locks that are recorded in every trial, whatever the interleaving
  std::vector<CacheState> caches;  // at least one
  std::vector<Layout> layouts;     // at least one; "none" (no roles) where the file names none
  std::vector<schedule::Interleaving> interleavings; // at least one
  std::vector<Mitigation> mitigations;               // at least "none"
  Matrix matrix;
  std::vector<Expectation> expect;
  int trials = 3;
  std::vector<std::pair<When, int>> trials_where; // a later match overrides `trials`
  std::chrono::milliseconds time_limit{120'000};  // of one trial
  std::chrono::milliseconds quiet_time{300};      // all threads asleep this long: the schedule, or the trial, is stuck
  LaunchMode launch = LaunchMode::fork_server;
  std::uint64_t seed = 0;
};

} // namespace racelab::scenario

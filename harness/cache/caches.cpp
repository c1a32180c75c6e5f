#include "cache/caches.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;

const std::vector<Directory>& directories() {
  static const std::vector<Directory> all{
      {"inductor", "TORCHINDUCTOR_CACHE_DIR"}, {"triton", "TRITON_CACHE_DIR"}, {"cuda", "CUDA_CACHE_PATH"}};
  return all;
}

Inventory inventory_for(const scenario::Scenario& scenario) {
  Inventory inventory;
  for (const scenario::CacheDirectory& own : scenario.cache_directories) {
    inventory.directories.push_back({own.name, own.variable});
    for (const auto& [name, patterns] : own.layers) {
      Layer layer{name, {}, false, "of the scenario's own cache directory " + own.name};
      for (const std::string& pattern : patterns) {
        layer.patterns.push_back(own.name + "/" + pattern);
      }
      inventory.layers.push_back(std::move(layer));
    }
    for (const auto& [event, counters] :
         {std::pair(&own.hit, &inventory.hit_counters), std::pair(&own.miss, &inventory.miss_counters)}) {
      if (!event->empty()) {
        counters->push_back(*event);
        inventory.counted_by_events = true;
      }
    }
  }
  return inventory;
}

std::vector<std::pair<std::string, std::string>> private_caches(const std::string& root,
                                                                const std::vector<Directory>& among) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const Directory& directory : among) {
    const std::string folder = root + "/" + directory.name;
    if (auto made = base::make_folders(folder); !made) {
      throw UserError(ExitCode::environment, made.error());
    }
    variables.emplace_back(directory.variable, folder);
  }
  return variables;
}

std::optional<SnapshotStore::Snapshot> SnapshotStore::find(const std::string& key) const {
  const std::string folder = m_root + "/" + key;
  const auto text = base::read_file(folder + "/snapshot.json");
  if (!text) {
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  const auto number = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number() ? json[name].get<double>() : -1.0;
  };
  Snapshot snapshot{key, folder + "/layers", measure(folder + "/layers"), std::max(number("fill_seconds"), 0.0), "", "",
                    {}};
  if (!json.is_object() || !json.contains("filled_at")) {
    return std::nullopt; // of an older racelab
  }
  snapshot.describes = json.value("describes", "");
  snapshot.filled_at = json.value("filled_at", "");
  if (json.contains("results") && json["results"].is_object()) {
    for (const auto& [actor, values] : json["results"].items()) {
      for (const auto& value : values) {
        snapshot.results[actor].push_back(value.is_number() ? value.get<double>() : std::nan(""));
      }
    }
  }
  if (static_cast<double>(snapshot.size.files) != number("files") ||
      static_cast<double>(snapshot.size.bytes) != number("bytes")) {
    return std::nullopt; // somebody took files out of it: fill it again
  }
  return snapshot;
}

SnapshotStore::Snapshot SnapshotStore::publish(const std::string& key, const std::string& filled, double fill_seconds,
                                               const std::string& describes, const Results& results,
                                               const std::string& filled_at) {
  const std::string folder = m_root + "/" + key;
  const std::string temporary = folder + ".tmp" + std::to_string(getpid());
  remove_tree(temporary);
  const auto copied = copy_tree(filled, temporary + "/layers");
  const TreeSize size = measure(temporary + "/layers"); // not of the original, which may hold what cannot be copied
  const auto written =
      copied ? base::write_file(temporary + "/snapshot.json", nlohmann::json{{"files", size.files},
                                                                             {"bytes", size.bytes},
                                                                             {"fill_seconds", fill_seconds},
                                                                             {"describes", describes},
                                                                             {"filled_at", filled_at},
                                                                             {"results", results}}
                                                                  .dump(2))
             : copied;
  if (!written) {
    remove_tree(temporary);
    throw UserError(ExitCode::environment, "the warm cache's snapshot cannot be kept: " + written.error());
  }
  std::error_code error;
  fs::rename(temporary, folder, error);
  if (error) { // another racelab was first, or a damaged one is in the way
    if (!find(key)) {
      remove_tree(folder);
      fs::rename(temporary, folder, error);
    }
    remove_tree(temporary);
  }
  const auto snapshot = find(key);
  if (!snapshot) {
    throw UserError(ExitCode::environment, "the warm cache's snapshot cannot be kept in " + folder);
  }
  return *snapshot;
}

LookUps look_ups(const std::map<std::string, std::int64_t>& counters, const Inventory& inventory) {
  const auto sum_of = [&](const std::vector<std::string>& names) {
    std::int64_t sum = 0;
    for (const std::string& name : names) {
      const auto at = counters.find(name);
      sum += at == counters.end() ? 0 : at->second;
    }
    return sum;
  };
  LookUps look_ups;
  look_ups.hits = sum_of(inventory.hit_counters);
  look_ups.misses = sum_of(inventory.miss_counters);
  return look_ups;
}

namespace {

Proof prove_cold(const LookUps& n, const TreeSize& before, const TreeSize& after, const std::string& seen) {
  if (before.files != 0) {
    return {false, "not cold: " + seen};
  }
  if (!n.told) {
    return {true, "empty before; the pipeline was ended before it told its look-ups: " + seen};
  }
  if (n.hits > 0 && after.files == 0) {
    return {false,
            "not cold: look-ups hit, and nothing is in the trial's cache directories, so the program uses another "
            "one (does it read the variables of `cache_directories`?): " +
                seen};
  }
  if (n.counted_by_events && n.misses > 0 && after.files == 0) {
    return {false,
            "look-ups missed, and nothing came into the trial's cache directories, so the program uses another one "
            "(does it read the variables of `cache_directories`?): " +
                seen};
  }
  if (n.misses == 0 && after.files == 0) {
    return {true, "empty before and after: this pipeline writes no compile cache"};
  }
  if (!n.counted) {
    return {true, "empty before, and nothing counts look-ups: " + seen};
  }
  if (n.misses == 0) {
    return {false, "no look-up missed, so nothing proves that the cache was cold: " + seen};
  }
  return {true, n.hits > 0 ? seen + " (hits are on entries that this trial wrote itself)" : seen};
}

Proof prove_warm(const LookUps& n, const TreeSize& before, const TreeSize& after, const std::string& seen) {
  if (!n.told) {
    return {true, "filled before; the pipeline was ended before it told its look-ups: " + seen};
  }
  if (!n.counted) {
    const bool same = before.files == after.files && before.bytes == after.bytes;
    return {same,
            (same ? "nothing was added, and nothing counts look-ups: " : "not warm, something was added: ") + seen};
  }
  if (n.hits == 0) {
    return {false, "no look-up hit, so nothing proves that the cache was warm: " + seen};
  }
  return {n.misses == 0, n.misses == 0 ? seen : "not fully warm: " + seen};
}

} // namespace

namespace {

// What happens to the state while the trial runs; nullopt: nothing is asked, or it happened.
std::optional<std::string> missing_in_trial(const scenario::CacheState& state, const InTrial& seen) {
  if (state.vanish_at && seen.removed == 0) {
    return fmt::format("nothing vanished: {} {} was not passed, or there was nothing yet",
                       state.vanish_at->actor == "*" ? "anybody's" : state.vanish_at->actor, state.vanish_at->point);
  }
  if (state.copies > 1 && seen.processes < state.copies) {
    return fmt::format("not shared: {} of {} processes came to racelab's agent", seen.processes, state.copies);
  }
  return std::nullopt;
}

} // namespace

Proof prove(const scenario::CacheState& state, const LookUps& n, const TreeSize& before, const TreeSize& after,
            const InTrial& in_trial) {
  std::string seen =
      fmt::format("{} hits, {} misses; {} files before, {} after", n.hits, n.misses, before.files, after.files);
  if (const auto missing = missing_in_trial(state, in_trial)) {
    return {false, *missing + "; " + seen};
  }
  if (state.vanish_at) {
    seen = fmt::format("{} files and folders vanished; {}", in_trial.removed, seen);
  }
  if (state.kind == scenario::CacheKind::warm && before.files == 0 && !state.changes_entries()) {
    return {false, n.counted_by_events
                       ? "not warm: the snapshot is empty: does the program read the variables of `cache_directories`?"
                       : "not warm: the snapshot is empty, so this pipeline writes no compile cache (aot_eager writes "
                         "none)"};
  }
  if (state.changes_entries() || !state.filled_by.empty() || state.needs_mounts() || state.vanish_at) {
    return {true, "as prepared and looked at before the trial; " + seen}; // what torch makes of it is the finding
  }
  return state.kind == scenario::CacheKind::cold ? prove_cold(n, before, after, seen)
                                                 : prove_warm(n, before, after, seen);
}

} // namespace racelab::cache

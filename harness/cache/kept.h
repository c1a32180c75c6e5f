#pragma once
// Copies of caches that a user keeps by name, beside the snapshots that racelab fills for scenarios. A copy is whole or
// not there: it is published by rename, and so is what is brought back.
#include "cache/caches.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace racelab::cache {

struct KeptFile {
  std::string path, sha256, link; // link: where a symbolic one points; it has no digest
  std::int64_t size = 0;
  unsigned mode = 0;
};

struct Kept {
  std::string name;
  std::string content; // the folder with the cache
  std::string from;    // where it was copied from; for a scenario's, whose it is
  std::string made;    // "2026-11-29T22:00:00Z"
  std::int64_t files = 0, bytes = 0;
  bool for_scenario = false;
  std::vector<KeptFile> manifest; // empty for a scenario's, which has only its size
};

class KeptCaches {
public:
  // `root`: the user's own; `snapshots`: those filled for scenarios.
  KeptCaches(std::string root, std::string snapshots) : m_root(std::move(root)), m_snapshots(std::move(snapshots)) {}

  // Throws base::UserError: usage for a name that cannot be one or is taken, environment where it cannot be written.
  Kept keep(const std::string& folder, const std::string& name);
  // By name; of a scenario's also by the beginning of its key (4 letters or more), if only one begins so.
  std::optional<Kept> find(const std::string& name) const;
  std::vector<Kept> all() const;

  // Makes `folder` a copy of it, compared with the manifest before it takes its place. A folder that is not empty is
  // refused (usage) unless `replace`; then it stays as it is until the copy is whole, and the two change places in one
  // step where the file system can.
  void restore(const Kept& kept, const std::string& folder, bool replace) const;

private:
  std::optional<Kept> read(const std::string& name) const;
  std::optional<Kept> read_scenarios(const std::string& key) const;

  std::string m_root, m_snapshots;
};

// What is not as the manifest says, a sentence for each file.
std::vector<std::string> compare_with_manifest(const Kept& kept, const std::string& content);

} // namespace racelab::cache

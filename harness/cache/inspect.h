#pragma once
// A compile cache as it lies on the disk: what is in it, how large, from when, and what is damaged. Each file is read
// once; nothing is written, executed or unpickled, and no link is followed. A cache may change meanwhile: what vanishes
// is left out.
#include "cache/facts.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::cache {

enum class FileType : std::uint8_t { regular, link, folder, special };

struct CachedFile {
  std::string path;  // below the cache's folder
  std::string place; // as layers know it: "inductor/fxgraph/…", "triton/KEY/kernel.cubin"
  std::string layer; // a layer's name, or "inductor-other", "triton-other", "temporary", "other"
  std::string entry; // what one look-up finds: all files of a key have the same; empty: of no entry (locks, say)
  FileType type = FileType::regular;
  std::int64_t size = 0;
  std::int64_t changed_ns = 0; // mtime, since 1970
  unsigned mode = 0, owner = 0;
  FileFacts facts;
};

struct Finding {
  std::string path, layer, what;
};

struct LayerSum {
  std::string name;
  std::int64_t entries = 0, files = 0, bytes = 0, damaged = 0;
  std::int64_t first_ns = 0, last_ns = 0;
};

struct Inspection {
  std::string folder;
  std::vector<std::string> holds; // of "inductor", "triton", "cuda"
  std::vector<CachedFile> files;  // sorted by path
  std::vector<LayerSum> layers;   // those that have files, in the order of layers(), then the others
  LayerSum total;                 // each entry once, though its files may belong to several layers
  std::vector<Finding> damage;
  std::vector<Finding> remarks;            // what is odd and harmless
  std::map<Checked, std::int64_t> checked; // how many files
  std::vector<std::string> unchecked;      // what could not be checked, and why; a sentence each
};

// Does the folder, or one right below it, look like a cache? An empty one does not.
bool is_cache(const std::string& folder);

// The error says why it is no cache: there is no such folder, it cannot be read, nothing in it is known.
tl::expected<Inspection, std::string> inspect(const std::string& folder);

// What B has more, less and other than A. An entry has changed if any of its files has; what is no entry (a lock)
// counts by the file.
struct LayerDifference {
  std::string name;
  std::int64_t more = 0, less = 0, changed = 0, same = 0;
  LayerSum before, after;
};

struct Difference {
  std::vector<LayerDifference> layers;
  LayerDifference total;
  std::vector<Finding> files; // what: "more", "less" or "changed"
};

Difference compare(const Inspection& before, const Inspection& after);

} // namespace racelab::cache

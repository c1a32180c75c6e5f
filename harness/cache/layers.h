#pragma once
// What the files of a compile cache are: the layers that can be looked at, removed and damaged one by one.
#include <string>
#include <string_view>
#include <vector>

namespace racelab::cache {

// One kind of entry. Patterns are paths below a trial's cache folder ("inductor/fxgraph/*/*/*"), where `*` stays
// within a component.
struct Layer {
  std::string name; // as scenarios name it: "fx-graph"
  std::vector<std::string> patterns;
  // A folder of the entry's own per key, in which torch looks at every file: a second payload can be put under a key.
  bool many_per_key = false;
  std::string about;
};

// Inductor's code, kernel sources and libraries, FX graphs, AOTAutograd, Triton, the CUDA driver's JIT cache, locks.
const std::vector<Layer>& layers();

// nullptr: there is no such layer.
const Layer* find_layer(std::string_view name, const std::vector<Layer>& among = layers());

// The layer of a path below the cache folder; nullptr: none (a temporary file, say).
const Layer* layer_of(std::string_view path, const std::vector<Layer>& among = layers());

// `*` and `?` within a component; `**` for any number of components.
bool path_matches(std::string_view pattern, std::string_view path);

// Files of a layer, which is one of `among`, below `root`, as sorted paths relative to it.
std::vector<std::string> files_of(const std::string& root, const Layer& layer,
                                  const std::vector<Layer>& among = layers());

} // namespace racelab::cache

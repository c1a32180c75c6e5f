#pragma once
// What the bytes of one file of a cache say: whether they are whole, who wrote them, and what they have to do with
// other files. Pure: nothing is read, executed or unpickled here.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace racelab::cache {

// How far the bytes could be checked.
enum class Checked : std::uint8_t {
  exactly, // another bit would have been noticed
  by_form, // begins, nests and ends as such a file does; a changed bit inside may go unseen
  not_at_all,
};

// What the bytes say about who wrote them; empty where they do not. Not to be trusted: anybody can write anything.
struct Told {
  std::string torch, torch_git, torch_cuda;
  std::string sources; // torch's own digest of its Python sources, which is part of each key (51 letters)
  std::string triton, triton_sources;
  std::string gpu;
  std::string cuda_tools; // release of the compiler that made a cubin, or of the writer's nvcc: "13.0, V13.0.88"
  std::string ptx;        // PTX version and target: "9.0, sm_90a"
  std::string compiler;   // of a library
  std::string python;     // "3.11"
  std::string written_at; // Inductor's cache directory at that time
  std::vector<std::string> environments; // site-packages folders
};

// A file of Triton's cache that an FX-graph entry carries with it.
struct Bundled {
  std::string key, name; // folder and file
  std::string digest;
};

struct FileFacts {
  Checked checked = Checked::not_at_all;
  std::vector<std::string> damage; // what is wrong, a clause each
  Told told;
  std::string digest;                    // base::digest of the content
  std::string code;                      // FX graph: the stem of its Python file
  std::vector<std::string> graphs;       // AOTAutograd: the keys of its FX graphs
  std::vector<Bundled> bundled;          // FX graph
  std::vector<std::string> group;        // Triton's group, the driver's index: the files that it names
  std::string group_at;                  // Triton's group: the folder where it says they are
  std::vector<std::int64_t> group_sizes; // the driver's index: how large it says they are
};

// `place` is the path as layers know it ("inductor/fxgraph/…"), `layer` the layer's name.
FileFacts facts_of(const std::string& place, const std::string& layer, std::string_view bytes);

} // namespace racelab::cache

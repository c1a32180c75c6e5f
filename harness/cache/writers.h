#pragma once
// By whom a cache was written, as far as its files tell.
#include "cache/inspect.h"
#include "cache/installed.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace racelab::cache {

// One torch, told by the digest of its sources that each FX-graph and AOTAutograd entry has in it.
struct Writer {
  std::string sources;
  std::string torch, torch_git, torch_cuda, triton, triton_sources, gpu; // empty: not told by its entries
  std::int64_t files = 0, first_ns = 0, last_ns = 0;
};

struct Value {
  std::string value;
  std::int64_t files = 0; // that say so
};

// A site-packages folder that files name.
struct Environment {
  std::int64_t files = 0;
  bool looked_at = false; // are there too many, the most frequent ones only
  bool named = true;      // false: racelab's own, found by the digest
  InstalledTorch now;     // what is there today; look_at_environments() fills it
  std::string wrote;      // digest of the writer whose sources these are; empty: of none
};

struct Writers {
  std::vector<Writer> torch; // the first one first
  std::vector<Value> triton, cuda_tools, ptx, compilers, pythons, gpus, written_at, owners;
  std::vector<Environment> environments;
};

Writers writers_of(const Inspection& inspection);

// Looks at the folders that the files name, and at those of `candidates` (site-packages) that have the torch of a
// writer. At most a few.
void look_at_environments(Writers& writers, const std::vector<std::string>& candidates, InstalledTorches& installed);

// "torch 2.11.0+cu130 (70d99e998b), CUDA 13.0, triton 3.6.0", what is not told left out; "a torch that does not say its
// version" where nothing is.
std::string describe(const Writer& writer, const Writers& all);

// "torch/_inductor/codecache.py differs from its wheel, and 3 more"; empty: not patched, or not told.
std::string patched(const Writer& writer, const Writers& all);

// The end of "353 MB and 285 entries before, 19 MB and 62 entries after, …".
std::string compare_writers(const Writers& before, const Writers& after);

} // namespace racelab::cache

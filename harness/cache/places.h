#pragma once
// Where a file of a compile cache belongs: which part of the cache, layer and entry it is of, told by its path.
#include "cache/inspect.h"

#include <string>
#include <string_view>
#include <vector>

namespace racelab::cache {

// Where parts of a cache are: prefix of paths ("", "inductor/") and what is there.
struct Part {
  std::string prefix, name;
};

// The parts of the folder, recognised by what is in them; none: it is no compile cache.
std::vector<Part> parts_of(const std::string& folder);

// Fills in `place`, `layer` and `entry`: what a look-up finds by one key is a folder of its own, or the files of one
// stem.
void place_file(const std::vector<Part>& parts, CachedFile& file);

std::string_view last_name(std::string_view path);

// write_atomic's ".PID.THREAD.tmp", Triton's folder "tmp.pid_PID_UUID"; 0: not such a name.
long writer_of_temporary(std::string_view place);

} // namespace racelab::cache

#pragma once
// A cache that is used in another folder than it was filled in.
#include <string>

#include <tl/expected.hpp>

namespace racelab::cache {

// Triton's group files (triton/runtime/cache.py: put_group) name the files of a kernel by absolute paths; Triton looks
// for them there, and compiles again where they are not. Replaces `filled_at` by `root` in those below `root`. Nothing
// is done where `filled_at` is empty. The error names the file.
tl::expected<void, std::string> relocate_triton(const std::string& root, const std::string& filled_at);

} // namespace racelab::cache

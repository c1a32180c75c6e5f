#pragma once
// Reads a run's result.json from the disk.
#include "result/result.h"

#include <string>

#include <tl/expected.hpp>

namespace racelab::result {

// The error names the file: it cannot be read, is not JSON or not an object. A wrong object is from_json()'s to refuse.
tl::expected<RunResult, std::string> read_run(const std::string& file);

} // namespace racelab::result

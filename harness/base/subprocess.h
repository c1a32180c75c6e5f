#pragma once
// Runs a short helper program to its end and collects what it prints.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::base {

struct Captured {
  int exit_code = 0; // 128 + signal if it was killed
  std::string out, err;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// `argv[0]` is looked up in PATH of this process. The program gets exactly `environment`. The error is a text: it
// cannot be started, or it ran longer than `limit` (it is killed then).
tl::expected<Captured, std::string> run_and_capture(const std::vector<std::string>& argv,
                                                    const Environment& environment, std::chrono::milliseconds limit);

// This process's value of a variable, or `fallback`.
std::string environment_value(const char* name, const std::string& fallback = {});

} // namespace racelab::base

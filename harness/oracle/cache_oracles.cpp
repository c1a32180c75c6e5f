// What a bad cache did: wrong numbers, and what became of the trial.
#include "oracle/oracle.h"

#include "base/text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace racelab::oracle {

namespace {

// torch's loggers write "W1129 10:12:13.123000 4711 …" ("E" for errors), Python's warnings "….py:12: UserWarning: …".
bool has_warning(const std::string& log) {
  for (const std::string& line : base::split(log, '\n')) {
    const bool torch_log = line.size() > 5 && (line[0] == 'W' || line[0] == 'E') &&
                           std::all_of(line.begin() + 1, line.begin() + 5, [](char c) { return c >= '0' && c <= '9'; });
    if (torch_log || line.find("Warning: ") != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::int64_t count(const result::TrialResult& trial, const char* name) {
  const auto at = trial.cache_counters.find(name);
  return at == trial.cache_counters.end() ? 0 : at->second;
}

// The index of the first result that is another one; -1: none.
int first_difference(const std::vector<double>& results, const std::vector<double>& reference, double tolerance) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i >= reference.size()) {
      return static_cast<int>(i);
    }
    const double a = results[i], b = reference[i];
    const bool same =
        a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
    if (!same) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

} // namespace

std::vector<result::Fault> wrong_results(const Results& results, const Results& reference, double tolerance) {
  std::vector<result::Fault> wrong;
  for (const auto& [actor, numbers] : results) {
    const auto at = reference.find(actor);
    const std::vector<double> none;
    const std::vector<double>& expected = at == reference.end() ? none : at->second;
    const int i = first_difference(numbers, expected, tolerance);
    if (i < 0) {
      continue;
    }
    const auto n = static_cast<std::size_t>(i);
    wrong.push_back({"wrong_result", actor, -1,
                     n < expected.size() ? fmt::format("result {} is {}, the serial run's is {} (tolerance {:g})",
                                                       i + 1, numbers[n], expected[n], tolerance)
                                         : fmt::format("result {} is {}, and the serial run has only {}", i + 1,
                                                       numbers[n], expected.size()),
                     "", ""});
  }
  return wrong;
}

std::string cache_outcome(const result::TrialResult& trial, const std::string& log) {
  const auto any = [&](std::initializer_list<const char*> kinds) {
    return std::any_of(trial.faults.begin(), trial.faults.end(), [&](const result::Fault& fault) {
      return std::any_of(kinds.begin(), kinds.end(), [&](const char* kind) { return fault.kind == kind; });
    });
  };
  if (any({"wrong_result"})) {
    return "used a wrong artefact";
  }
  if (any({"crash"})) {
    return "crashed";
  }
  if (any({"hang", "deadlock", "time_limit"})) {
    return "hung";
  }
  if (any({"compile_error", "actor_died", "exit_status"})) {
    return "raised";
  }
  const bool recomputed =
      count(trial, "aot_autograd.autograd_cache_miss") + count(trial, "inductor.fxgraph_cache_miss") > 0;
  const bool warned = has_warning(log);
  return warned && recomputed ? "warned and recomputed"
         : recomputed         ? "recomputed"
         : warned             ? "warned"
                              : "did not notice";
}

} // namespace racelab::oracle

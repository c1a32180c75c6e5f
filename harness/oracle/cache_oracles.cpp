// What a bad cache did: wrong numbers, and what became of the trial.
#include "oracle/oracle.h"

#include "base/text.h"

#include <algorithm>
#include <cmath>
#include <set>

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

bool same(double a, double b, double tolerance) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

// The index of the first result that is another one; -1: none.
int first_difference(const std::vector<double>& results, const std::vector<double>& reference, double tolerance) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i >= reference.size()) {
      return static_cast<int>(i);
    }
    if (!same(results[i], reference[i], tolerance)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

} // namespace

namespace {

// Numbers of several processes that print the same series, in whatever order they come: the index of the first one that
// no way of telling them apart explains; -1: none. A way is how far each process has come.
int first_misfit(const std::vector<double>& results, const std::vector<double>& series, int processes,
                 double tolerance) {
  std::set<std::vector<std::size_t>> ways{std::vector<std::size_t>(static_cast<std::size_t>(processes), 0)};
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::set<std::vector<std::size_t>> next;
    for (const auto& way : ways) {
      for (std::size_t p = 0; p < way.size(); ++p) {
        if (way[p] < series.size() && same(results[i], series[way[p]], tolerance)) {
          auto further = way;
          ++further[p];
          std::sort(further.begin(), further.end()); // which process is which does not matter
          next.insert(std::move(further));
        }
      }
    }
    if (next.empty()) {
      return static_cast<int>(i);
    }
    ways = std::move(next);
  }
  return -1;
}

// "drafter0@2", an actor of the second process, is compared with "drafter0".
std::string without_ordinal(const std::string& actor) {
  const std::size_t at = actor.rfind('@');
  const bool is_ordinal = at != std::string::npos && at + 1 < actor.size() &&
                          actor.find_first_not_of("0123456789", at + 1) == std::string::npos;
  return is_ordinal ? actor.substr(0, at) : actor;
}

} // namespace

std::vector<result::Fault> wrong_results(const Results& results, const Results& reference, double tolerance,
                                         int processes) {
  std::vector<result::Fault> wrong;
  for (const auto& [actor, numbers] : results) {
    const auto own = reference.find(actor);
    const auto at = own == reference.end() && processes > 1 ? reference.find(without_ordinal(actor)) : own;
    const std::vector<double> none;
    const std::vector<double>& expected = at == reference.end() ? none : at->second;
    const bool mixed = processes > 1 && numbers.size() > expected.size() && !expected.empty();
    const int i =
        mixed ? first_misfit(numbers, expected, processes, tolerance) : first_difference(numbers, expected, tolerance);
    if (i < 0) {
      continue;
    }
    const auto n = static_cast<std::size_t>(i);
    wrong.push_back(
        {"wrong_result", actor, -1,
         mixed ? fmt::format("result {} of {} processes is {}, which is none of the serial run's that are due", i + 1,
                             processes, numbers[n])
         : n < expected.size()
             ? fmt::format("result {} is {}, the serial run's is {} (tolerance {:g})", i + 1, numbers[n], expected[n],
                           tolerance)
             : fmt::format("result {} is {}, and the serial run has only {}", i + 1, numbers[n], expected.size()),
         "", ""});
  }
  return wrong;
}

std::string cache_outcome(const result::TrialResult& trial, bool recomputed, const std::string& log) {
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
  const bool warned = has_warning(log);
  return warned && recomputed ? "warned and recomputed"
         : recomputed         ? "recomputed"
         : warned             ? "warned"
                              : "did not notice";
}

} // namespace racelab::oracle

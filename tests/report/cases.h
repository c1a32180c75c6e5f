#pragma once
// The results that every reporter must cope with, and a matcher for what it makes of them.
#include "result/result.h"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace racelab::report {

struct NamedCase {
  std::string name;
  result::RunResult run;
};

void PrintTo(const NamedCase& one, std::ostream* out); // for GoogleTest

// empty, ok, expected, unexpected, unreachable, impossible, flaky, fixed, skipped, unproved, many_actors,
// odd_characters, long_messages, wide_names, mixed_actors.
const std::vector<NamedCase>& all_cases();
const result::RunResult& case_named(std::string_view name);

// One cell of cold × nested-trace with three drafters, all of which run well.
result::CellResult good_cell(const std::string& id, int trials);
// The four passes of the nested order, with a fault of drafter1 behind the second.
result::TrialResult nested_trial(int index);

std::vector<std::string> lines_of(std::string_view text);
// Empty if for each regular expression a line of `text` matches a part of it, in this order; else what is missing.
std::string missing_lines(std::string_view text, const std::vector<std::string>& patterns);

} // namespace racelab::report

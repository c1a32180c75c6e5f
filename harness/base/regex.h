#pragma once
// Regular expressions that a scenario brings along, matched against whatever a program prints.
#include <regex>
#include <string>

namespace racelab::base {

// An ECMAScript regular expression without back-references, matched in polynomial time and without recursion over the
// text: libstdc++'s usual matcher tries every way through "(a*)*b" one after another, and would stand still for ever on
// a line of a's while the trial it watches runs on. Throws std::regex_error.
inline std::regex make_regex(const std::string& pattern) {
  return std::regex(pattern, std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
}

} // namespace racelab::base

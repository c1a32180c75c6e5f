#pragma once
// Tokens that a program reports in its output: lines that match a pattern, with the time at which they came.
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

namespace racelab::launch {

struct TokenPattern {
  std::string regex;    // ECMAScript, searched in each line
  int number_group = 1; // the group that is the number: 12, 12.5, 12,500, 3.1k
  int actor_group = 0;  // the group that is an actor's name; 0: none
};

struct TokenLine {
  std::int64_t time_ns = 0; // CLOCK_MONOTONIC, when racelab read the line
  std::string actor;        // empty: the line speaks of all
  double number = 0;
};

// Reads one stream. A line is looked at once its end has come; of a long one, the first 2,000 bytes count.
class TokenLines {
public:
  explicit TokenLines(const TokenPattern& pattern);

  void append(const char* data, std::size_t size, std::int64_t time_ns);
  const std::vector<TokenLine>& lines() const { return m_found; }

private:
  void look(std::int64_t time_ns);

  TokenPattern m_pattern;
  std::regex m_regex;
  std::string m_line;
  std::vector<TokenLine> m_found; // bounded
};

} // namespace racelab::launch

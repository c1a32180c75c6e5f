#include "launch/token_lines.h"

#include "base/regex.h"

#include <algorithm>
#include <cstdlib>

namespace racelab::launch {

namespace {

constexpr std::size_t k_max_line = 2000;
constexpr std::size_t k_max_lines = 1'000'000;

// "12", "12.5", "12,500", "12_500", "3.1k", "2M"; false: none of these.
bool read_count(std::string text, double& number) {
  std::erase_if(text, [](char c) { return c == ',' || c == '_'; });
  char* end = nullptr;
  number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || number < 0) {
    return false;
  }
  const std::string unit(end);
  const double factor = unit.empty() ? 1 : unit == "k" || unit == "K" ? 1e3 : unit == "M" ? 1e6 : 0;
  number *= factor;
  return factor > 0;
}

} // namespace

TokenLines::TokenLines(const TokenPattern& pattern) : m_pattern(pattern), m_regex(base::make_regex(pattern.regex)) {}

void TokenLines::append(const char* data, std::size_t size, std::int64_t time_ns) {
  const char* const end = data + size;
  while (data != end) {
    const char* stop = std::find(data, end, '\n');
    const std::size_t room = k_max_line - std::min(k_max_line, m_line.size());
    m_line.append(data, std::min(room, static_cast<std::size_t>(stop - data)));
    if (stop == end) {
      return;
    }
    look(time_ns);
    m_line.clear();
    data = stop + 1;
  }
}

void TokenLines::look(std::int64_t time_ns) {
  std::smatch match;
  if (m_found.size() >= k_max_lines || !std::regex_search(m_line, match, m_regex)) {
    return;
  }
  const auto group = [&](int i) { return match[static_cast<std::size_t>(i)].str(); };
  TokenLine line{time_ns, m_pattern.actor_group > 0 ? group(m_pattern.actor_group) : "", 0};
  if (read_count(group(m_pattern.number_group), line.number)) {
    m_found.push_back(std::move(line));
  }
}

} // namespace racelab::launch

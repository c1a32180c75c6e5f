#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace racelab::base {

namespace {

// Farther than this, a suggestion confuses more than it helps (the bound that ninja uses).
constexpr int k_max_typing_distance = 3;

constexpr std::string_view k_blanks = " \t\r\n\f\v";

bool is_blank(char c) {
  return k_blanks.find(c) != std::string_view::npos;
}

// Three significant digits without exponent or trailing zeros. `value` is below 1000 unless it has no larger unit.
std::string three_digits(double value) {
  const double size = std::abs(value);
  const int before_point = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  int decimals = std::max(0, 3 - before_point);
  if (size > 0 && size < 1)
    decimals = std::min(9, 2 - static_cast<int>(std::floor(std::log10(size))));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

// `value` in the unit that leaves it below 1000 after rounding to three digits: 999.9 is "1 k", not "1000".
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> k_prefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t i = 0;
  while (std::abs(value) >= 999.5 && i + 1 < k_prefixes.size()) {
    value /= 1000;
    ++i;
  }
  const std::string suffix = std::string(k_prefixes[i]) + std::string(unit);
  return suffix.empty() ? three_digits(value) : three_digits(value) + " " + suffix;
}

// Appends a quoted text, an escaped character or a plain one at line[i] to `word` and moves `i` behind it. False: it
// has no end.
bool take_word_part(std::string_view line, std::size_t& i, std::string& word) {
  const char quote = line[i];
  if (quote == '\\') {
    if (i + 1 == line.size())
      return false;
    word += line[i + 1];
    i += 2;
    return true;
  }
  if (quote != '\'' && quote != '"') {
    word += line[i++];
    return true;
  }
  for (++i; i < line.size() && line[i] != quote; ++i) {
    // Within double quotes a backslash stays unless it protects one of these (POSIX shell, 2.2.3).
    const bool escape = quote == '"' && line[i] == '\\' && i + 1 < line.size() &&
                        std::string_view("$`\"\\\n").find(line[i + 1]) != std::string_view::npos;
    if (escape && line[++i] == '\n')
      continue;
    word += line[i];
  }
  return i++ < line.size();
}

// Reads "NUMBER UNIT" off the front of `text`; milliseconds, or nullopt.
std::optional<double> take_duration_part(std::string_view& text) {
  const std::size_t digits_end = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits_end, number, std::chars_format::fixed);
  if (digits_end == 0 || error != std::errc() || end != text.data() + digits_end)
    return std::nullopt;
  text.remove_prefix(digits_end);
  text = trim(text);

  constexpr std::array<std::pair<std::string_view, double>, 4> k_units = {
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  const std::size_t unit_end = std::min(text.find_first_of("0123456789 \t"), text.size());
  for (const auto& [name, milliseconds] : k_units) {
    if (text.substr(0, unit_end) == name) {
      text.remove_prefix(unit_end);
      text = trim(text);
      return number * milliseconds;
    }
  }
  return std::nullopt;
}

} // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows of the usual table, the third for swaps.
  const int columns = static_cast<int>(b.size()) + 1;
  std::vector<int> before_last(columns), last(columns), row(columns);
  for (int j = 0; j < columns; ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (int j = 1; j < columns; ++j) {
      const int replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[columns - 1];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const int bound = std::clamp(static_cast<int>(word.size()) / 3, 1, k_max_typing_distance);
  int best_distance = bound + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : candidates) {
    const auto longer = std::max(word.size(), candidate.size());
    const auto shorter = std::min(word.size(), candidate.size());
    if (shorter == 0 || longer - shorter > static_cast<std::size_t>(bound))
      continue;
    const int distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < static_cast<int>(longer)) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::optional<std::string> best = nearest(word, candidates);
  return best ? fmt::format("; did you mean '{}'?", *best) : std::string();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
    parts.emplace_back(text.substr(begin, end - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0)
      text += separator;
    text += parts[i];
  }
  return text;
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(k_blanks) - begin + 1);
}

std::string iso_time(std::time_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - i < bytes)
      return false;
    // The second byte rules out what is too long, a surrogate, or beyond the last code point.
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (byte(i + 1) < least || byte(i + 1) > most)
      return false;
    for (std::size_t k = 2; k < bytes; ++k) {
      if ((byte(i + k) & 0xc0U) != 0x80)
        return false;
    }
    i += bytes;
  }
  return true;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // On a mismatch only the latest '*' needs another try, so that the time is bounded by |pattern| * |text|.
  std::size_t p = 0, t = 0;
  std::size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::optional<std::vector<std::string>> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false; // also of an empty word: ''
  for (std::size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      if (in_word)
        words.push_back(std::move(word));
      word.clear();
      in_word = false;
      ++i;
    } else if (line.substr(i, 2) == "\\\n") {
      i += 2; // the line goes on
    } else {
      in_word = true;
      if (!take_word_part(line, i, word))
        return std::nullopt;
    }
  }
  if (in_word)
    words.push_back(std::move(word));
  return words;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr double k_longest = 1e12; // 30 years: anything above is a mistake, and must not overflow
  text = trim(text);
  double milliseconds = 0;
  do {
    const std::optional<double> part = take_duration_part(text);
    if (!part)
      return std::nullopt;
    milliseconds += *part;
  } while (!text.empty());
  if (milliseconds > k_longest)
    return std::nullopt;
  return std::chrono::milliseconds(std::llround(milliseconds));
}

std::string format_duration(std::chrono::milliseconds duration) {
  const long long milliseconds = duration.count();
  if (milliseconds < 0)
    return "-" + format_duration(std::chrono::milliseconds(-milliseconds));
  if (milliseconds < 1000)
    return fmt::format("{}ms", milliseconds);
  if (milliseconds < 59'950) // rounds to less than a minute
    return three_digits(static_cast<double>(milliseconds) / 1000) + "s";
  const long long seconds = (milliseconds + 500) / 1000;
  return seconds % 60 == 0 ? fmt::format("{}m", seconds / 60) : fmt::format("{}m {}s", seconds / 60, seconds % 60);
}

std::string format_si(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return with_prefix(value, "");
}

std::string format_bytes(unsigned long long bytes) {
  return with_prefix(static_cast<double>(bytes), "B");
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::pair<std::string_view, double> k_units[] = {
      {"KiB", 1024.0}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
      {"B", 1}};
  for (const auto& [unit, factor] : k_units) {
    if (!text.ends_with(unit)) {
      continue;
    }
    const std::string number(trim(text.substr(0, text.size() - unit.size())));
    if (number.empty() || number.find_first_not_of("0123456789.") != std::string::npos) {
      return std::nullopt;
    }
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end) * factor;
    constexpr double k_largest = 1e15;
    return *end == '\0' && value >= 1 && value <= k_largest ? std::optional(static_cast<std::uint64_t>(value))
                                                            : std::nullopt;
  }
  return std::nullopt;
}

} // namespace racelab::base

#pragma once
// Small text helpers.
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace racelab::base {

// Number of single-character edits (insert, delete, replace, swap of neighbours) between two strings.
int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, if it is near enough that a typing mistake is likely.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'x'?" or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);

// "2026-11-30T02:08:16Z".
std::string iso_time(std::time_t seconds);

// Well-formed UTF-8 (Unicode 15, table 3-7).
bool is_utf8(std::string_view text);

// Shell-like glob over a whole string: '*' any run of characters, '?' one character.
bool glob_match(std::string_view pattern, std::string_view text);

// Splits a command line into words as a POSIX shell would (quotes and backslashes; no expansion). nullopt: unbalanced
// quote.
std::optional<std::vector<std::string>> split_words(std::string_view line);

// "250ms", "1.5s", "2m", "1h"; a bare number has no unit and is refused (nullopt).
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
// "64KiB", "1.5MB", "200B"; a bare number is refused (nullopt). kB, MB, GB are decimal; KiB, MiB, GiB binary.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
// The shortest of ms/s/m that is exact enough for a person: "250ms", "1.5s", "2m 5s".
std::string format_duration(std::chrono::milliseconds duration);

// "1.9 k", "12.3 M" with three significant digits; for rates and counts a person reads.
std::string format_si(double value);
// "353 MB": decimal units, three significant digits.
std::string format_bytes(unsigned long long bytes);

} // namespace racelab::base

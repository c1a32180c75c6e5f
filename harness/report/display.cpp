#include "report/display.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace racelab::report {

namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;
};

// The code point that `text` (not empty) begins with; one invalid byte where it begins with none.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80)
    return {lead, 1, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
    return {lead, 1, false};
  char32_t value = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80)
      return {lead, 1, false};
    value = (value << 6) | (byte(i) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> k_smallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < k_smallest[bytes] || value > 0x10ffff || surrogate)
    return {lead, 1, false};
  return {value, bytes, true};
}

struct Range {
  char32_t first, last;
};

template <std::size_t N> bool in_any(const std::array<Range, N>& ranges, char32_t value) {
  return std::any_of(ranges.begin(), ranges.end(), [&](Range r) { return r.first <= value && value <= r.last; });
}

// Characters that act on the text around them instead of standing for something: C0, DEL, C1, line and paragraph
// separators, and those that reorder text (Unicode TR #36), and the noncharacters that XML forbids.
bool must_escape(char32_t value) {
  constexpr std::array<Range, 9> k_ranges = {{{0, 0x1f},
                                              {0x7f, 0x9f},
                                              {0x061c, 0x061c},
                                              {0x200e, 0x200f},
                                              {0x2028, 0x202e},
                                              {0x2060, 0x2069},
                                              {0xfeff, 0xfeff},
                                              {0xfff9, 0xfffb},
                                              {0xfffe, 0xffff}}};
  return in_any(k_ranges, value);
}

int columns_of(char32_t value) {
  constexpr std::array<Range, 7> k_none = {{{0x0300, 0x036f},
                                            {0x1ab0, 0x1aff},
                                            {0x1dc0, 0x1dff},
                                            {0x200b, 0x200d},
                                            {0x20d0, 0x20ff},
                                            {0xfe00, 0xfe0f},
                                            {0xfe20, 0xfe2f}}};
  constexpr std::array<Range, 11> k_two = {{{0x1100, 0x115f},
                                            {0x2e80, 0x303e},
                                            {0x3041, 0x4dbf},
                                            {0x4e00, 0xa4cf},
                                            {0xac00, 0xd7a3},
                                            {0xf900, 0xfaff},
                                            {0xfe30, 0xfe6f},
                                            {0xff00, 0xff60},
                                            {0xffe0, 0xffe6},
                                            {0x1f300, 0x1faff},
                                            {0x20000, 0x3fffd}}};
  if (value < 0x300)
    return 1;
  return in_any(k_none, value) ? 0 : in_any(k_two, value) ? 2 : 1;
}

std::string escape(const CodePoint& point) {
  if (point.value == '\n')
    return "\\n";
  if (point.value == '\r')
    return "\\r";
  if (point.value == '\t')
    return "\\t";
  const auto value = static_cast<unsigned>(point.value);
  return value < 0x100 && (!point.valid || value < 0x80) ? fmt::format("\\x{:02x}", value)
                                                         : fmt::format("\\u{:04x}", value);
}

// How many bytes of `text` fit into `columns`.
std::size_t bytes_within(std::string_view text, int columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint point = first_code_point(text.substr(bytes));
    columns -= columns_of(point.value);
    if (columns < 0)
      break;
    bytes += point.bytes;
  }
  return bytes;
}

} // namespace

int width_of(const Style& style) {
  return std::max(style.width, k_min_width);
}

std::string paint(const Style& style, Color color, std::string_view text) {
  if (!style.color || color == Color::plain || text.empty())
    return std::string(text);
  constexpr std::array<std::string_view, 6> k_codes = {"0", "1", "2", "31", "32", "33"};
  return fmt::format("\x1b[{}m{}\x1b[0m", k_codes[static_cast<std::size_t>(color)], text);
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.valid || must_escape(point.value))
      result += escape(point);
    else
      result += text.substr(0, point.bytes);
    text.remove_prefix(point.bytes);
  }
  return result;
}

int columns_of(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    columns += columns_of(point.value);
    text.remove_prefix(point.bytes);
  }
  return columns;
}

std::string shorten(std::string_view text, int columns) {
  if (bytes_within(text, columns) == text.size())
    return std::string(text);
  if (columns <= 0)
    return {};
  return without_trailing_blanks(std::string(text.substr(0, bytes_within(text, columns - 1)))) + "…";
}

std::string pad_right(std::string_view text, int columns) {
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(0, columns - columns_of(text))), ' ');
}

std::string pad_left(std::string_view text, int columns) {
  return std::string(static_cast<std::size_t>(std::max(0, columns - columns_of(text))), ' ') + std::string(text);
}

std::string without_trailing_blanks(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> wrap(std::string_view text, int columns, int max_lines) {
  std::vector<std::string> lines;
  while (static_cast<int>(lines.size()) + 1 < max_lines) {
    std::size_t end = bytes_within(text, columns);
    if (end == text.size())
      break;
    const std::size_t blank = text.substr(0, end + 1).find_last_of(' ');
    if (blank != std::string_view::npos && text.find_first_not_of(' ') < blank)
      end = blank;
    else if (end == 0)
      break;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  if (!text.empty() || lines.empty())
    lines.push_back(shorten(text, columns));
  return lines;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take_number = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end]))
      ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
  };
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const std::string_view left = take_number(a), right = take_number(b);
      if (left != right)
        return left.size() != right.size() ? left.size() < right.size() : left < right;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : whole_a < whole_b;
}

std::string shell_word(std::string_view word) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./:=,@%+-").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain))
    return std::string(word);
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

} // namespace racelab::report

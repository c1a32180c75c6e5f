#pragma once
// Text for a terminal: what one column is, how to cut and pad, and how to print text that a pipeline chose without
// letting it move the cursor.
#include <string>
#include <string_view>
#include <vector>

namespace racelab::report {

// How to render; the caller decides (terminal, NO_COLOR, options), nothing here looks at the environment.
struct Style {
  bool color = false;
  int width = 100; // columns; less than k_min_width counts as k_min_width
};

constexpr int k_min_width = 40;

int width_of(const Style& style);

enum class Color { plain, bold, dim, red, green, yellow };

// `text` in that colour, if the style has colours.
std::string paint(const Style& style, Color color, std::string_view text);

// `text` on one line and without surprises: control characters and those that reorder text become escapes ("\n",
// "\x1b",
// "\u202e"), bytes that are not UTF-8 become "\xff".
std::string printable(std::string_view text);

// Columns that a printable text takes on a terminal: wide characters two, combining ones none (Unicode UAX #11,
// abridged).
int columns_of(std::string_view text);

// At most that many columns, with "…" where something is cut off.
std::string shorten(std::string_view text, int columns);

std::string pad_right(std::string_view text, int columns);
std::string pad_left(std::string_view text, int columns);
std::string without_trailing_blanks(std::string text);

// Lines of at most `columns`, broken at blanks where possible; at most `max_lines`, the last one ending in "…" if that
// is too few. At least one line.
std::vector<std::string> wrap(std::string_view text, int columns, int max_lines);

// "drafter2" before "drafter10".
bool natural_less(std::string_view a, std::string_view b);

// `word` as a POSIX shell must be given it.
std::string shell_word(std::string_view word);

} // namespace racelab::report

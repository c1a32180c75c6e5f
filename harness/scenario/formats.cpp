#include "scenario/formats.h"

#include "base/assert.h"
#include "base/regex.h"
#include "base/text.h"

#include <algorithm>
#include <regex>

namespace racelab::scenario {

// Written by hand because std::regex recurses once per character and overflows the stack on a long text.
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
bool is_name(char c) {
  return is_word(c) || c == '.' || c == '-';
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

template <typename Part> bool all_parts(std::string_view text, Part accepts) {
  const auto parts = base::split(text, '.');
  return std::all_of(parts.begin(), parts.end(), accepts);
}

bool accepts_text(std::string_view text) {
  return !base::trim(text).empty();
}

bool accepts_any(std::string_view) {
  return true;
}

bool accepts_name(std::string_view text) {
  return !text.empty() && text.size() <= k_max_name && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), is_name);
}

bool accepts_point_name(std::string_view text) {
  return text.size() <= k_max_name && std::all_of(text.begin(), text.end(), is_name) &&
         all_parts(text, [](const std::string& part) { return !part.empty(); });
}

bool accepts_dotted_path(std::string_view text) {
  return text.find('.') != std::string_view::npos && all_parts(text, is_identifier);
}

bool accepts_attribute(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && all_parts(text.substr(0, colon), is_identifier) &&
         all_parts(text.substr(colon + 1), is_identifier);
}

bool accepts_line_place(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || base::trim(text.substr(0, colon)).empty()) {
    return false;
  }
  const std::string_view number = text.substr(colon + 1);
  return !number.empty() && number.size() <= 7 && number.front() != '0' &&
         std::all_of(number.begin(), number.end(), is_digit);
}

bool accepts_actor_name(std::string_view text) {
  return !base::trim(text).empty() && text.size() <= k_max_name;
}

bool accepts_value_path(std::string_view text) {
  return all_parts(
      text, [](const std::string& part) { return !part.empty() && std::all_of(part.begin(), part.end(), is_word); });
}

bool accepts_bytes(std::string_view text) {
  return base::parse_bytes(text).has_value();
}

bool accepts_regex(std::string_view text) {
  if (text.size() > k_max_regex)
    return false;
  try {
    base::make_regex(std::string(text));
    return !text.empty();
  } catch (const std::regex_error&) {
    return false;
  }
}

} // namespace

const FormatRule& rule_of(Format format) {
  static const FormatRule k_text = {R"(\S)", "text", accepts_text};
  static const FormatRule k_any = {"", "text", accepts_any};
  static const FormatRule k_name = {
      R"(^(?!\.{1,2}$)[A-Za-z0-9._-]{1,80}$)",
      "a name of at most 80 letters, digits, '.', '_' and '-' (it becomes part of a path)", accepts_name};
  static const FormatRule k_point_name = {R"(^(?=.{1,80}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$)",
                                          "a name such as queue.put, of at most 80 letters, digits, '.', '_' and '-'",
                                          accepts_point_name};
  static const FormatRule k_environment_name = {
      R"(^[A-Za-z_][A-Za-z0-9_]*$)", "the name of an environment variable (letters, digits and '_')", is_identifier};
  static const FormatRule k_dotted_path = {R"(^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$)",
                                           "a dotted path such as torch._dynamo.config.verbose", accepts_dotted_path};
  static const FormatRule k_attribute = {R"(^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$)",
                                         "a place in code such as mypkg.queue:Queue.put (MODULE:ATTRIBUTE)",
                                         accepts_attribute};
  static const FormatRule k_line_place = {R"(\S.*:[1-9][0-9]{0,6}$)", "a line of a file such as train.py:120",
                                          accepts_line_place};
  static const FormatRule k_actor_name = {R"(^(?=.*\S).{1,80}$)", "an actor's name of at most 80 bytes",
                                          accepts_actor_name};
  static const FormatRule k_value_path = {R"(^\w+(\.\w+)*$)", "a path into a value such as tokens or 0.tokens",
                                          accepts_value_path};
  static const FormatRule k_bytes = {R"(^\s*[0-9]+(\.[0-9]+)?\s*([kMG]|[KMG]i)?B$)",
                                     "a size with its unit such as 64KiB", accepts_bytes};
  static const FormatRule k_regex = {R"(\S)", "an ECMAScript regular expression of at most 1000 bytes", accepts_regex};
  static const FormatRule k_event = {R"(^\s*\S.*\s[^\s#]+(#[1-9][0-9]*)?\s*$)", "an event 'ACTOR POINT'", accepts_text};
  static const FormatRule k_order = {R"(^\s*\S.*\s[^\s#]+\s*<\s*\S.*\s[^\s#]+\s*$)",
                                     "an order of events 'ACTOR POINT < ACTOR POINT'", accepts_text};
  switch (format) {
  case Format::text:
    return k_text;
  case Format::any:
    return k_any;
  case Format::name:
    return k_name;
  case Format::point_name:
    return k_point_name;
  case Format::environment_name:
    return k_environment_name;
  case Format::dotted_path:
    return k_dotted_path;
  case Format::attribute:
    return k_attribute;
  case Format::line_place:
    return k_line_place;
  case Format::actor_name:
    return k_actor_name;
  case Format::value_path:
    return k_value_path;
  case Format::bytes:
    return k_bytes;
  case Format::regex:
    return k_regex;
  case Format::event:
    return k_event;
  case Format::order:
    return k_order;
  }
  RACELAB_ASSERT(!"a format without a rule");
  return k_any;
}

} // namespace racelab::scenario

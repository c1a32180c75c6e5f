#include "scenario/shape.h"

#include "base/assert.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

Shape of_kind(Shape::Kind kind) {
  Shape shape;
  shape.kind = kind;
  return shape;
}

Value::Kind value_kind(const Shape& shape) {
  switch (shape.kind) {
  case Shape::Kind::list:
    return Value::Kind::list;
  case Shape::Kind::map:
    return Value::Kind::map;
  default:
    return Value::Kind::scalar;
  }
}

std::string describe_duration(std::uint64_t ms) {
  return base::format_duration(std::chrono::milliseconds(ms));
}

} // namespace

Shape text(Format format) {
  Shape shape = of_kind(Shape::Kind::text);
  shape.format = format;
  return shape;
}

Shape reference(NameKind kind) {
  Shape shape = text(Format::name);
  shape.refers_to = kind;
  return shape;
}

Shape words(std::vector<std::string> accepted) {
  RACELAB_ASSERT(!accepted.empty());
  Shape shape = of_kind(Shape::Kind::words);
  shape.words = std::move(accepted);
  return shape;
}

Shape integer(std::uint64_t minimum, std::uint64_t maximum) {
  Shape shape = of_kind(Shape::Kind::integer);
  shape.minimum = minimum;
  shape.maximum = maximum;
  return shape;
}

Shape positive_number() {
  return of_kind(Shape::Kind::number);
}

Shape duration(std::uint64_t minimum_ms, std::uint64_t maximum_ms) {
  Shape shape = integer(minimum_ms, maximum_ms);
  shape.kind = Shape::Kind::duration;
  return shape;
}

Shape scalar() {
  return of_kind(Shape::Kind::scalar);
}

Shape list_of(Shape item, int min_items, int max_items) {
  Shape shape = of_kind(Shape::Kind::list);
  shape.min_items = min_items;
  shape.max_items = max_items;
  shape.inner.push_back(std::move(item));
  return shape;
}

Shape unique_list_of(Shape item) {
  Shape shape = list_of(std::move(item));
  shape.unique = true;
  return shape;
}

Shape map_of(Format key_format, Shape value, int min_items) {
  Shape shape = of_kind(Shape::Kind::map);
  shape.key_format = key_format;
  shape.min_items = min_items;
  shape.inner.push_back(std::move(value));
  return shape;
}

Shape object(std::vector<Key> keys) {
  Shape shape = of_kind(Shape::Kind::map);
  shape.keys = std::move(keys);
  return shape;
}

Shape either(std::vector<Shape> alternatives) {
  for (std::size_t i = 0; i < alternatives.size(); ++i)
    for (std::size_t j = i + 1; j < alternatives.size(); ++j)
      RACELAB_ASSERT(value_kind(alternatives[i]) != value_kind(alternatives[j]));
  Shape shape = of_kind(Shape::Kind::choice);
  shape.inner = std::move(alternatives);
  return shape;
}

std::string or_join(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0)
      text += i + 1 == parts.size() ? " or " : ", ";
    text += parts[i];
  }
  return text;
}

std::string describe(const Shape& shape) {
  switch (shape.kind) {
  case Shape::Kind::text:
    return rule_of(shape.format).meaning;
  case Shape::Kind::words:
    return or_join(shape.words);
  case Shape::Kind::integer:
    if (shape.minimum == shape.maximum)
      return std::to_string(shape.minimum);
    return fmt::format("a whole number from {} to {}", shape.minimum, shape.maximum);
  case Shape::Kind::number:
    return "a number above 0";
  case Shape::Kind::duration:
    return fmt::format("a duration from {} to {} with its unit (ms, s, m, h)", describe_duration(shape.minimum),
                       describe_duration(shape.maximum));
  case Shape::Kind::scalar:
    return "a single value";
  case Shape::Kind::list:
    return "a list";
  case Shape::Kind::map:
    return "a map";
  case Shape::Kind::choice:
    break;
  }
  std::vector<std::string> parts;
  for (const Shape& alternative : shape.inner)
    parts.push_back(describe(alternative));
  return or_join(parts);
}

bool read_integer(const Value& value, std::uint64_t& result) {
  const std::string& text = value.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  const bool octal_look = text.size() > 1 && text.front() == '0';
  return value.kind == Value::Kind::scalar && value.plain && error == std::errc() && end == text.data() + text.size() &&
         !octal_look;
}

bool read_number(const Value& value, double& result) {
  const std::string& text = value.text;
  if (value.kind != Value::Kind::scalar || !value.plain ||
      text.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace racelab::scenario

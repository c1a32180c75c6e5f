#pragma once
// What a document may look like, as data. One description (keys.h) serves three ends: validate() checks a document
// against it, scenario_schema() publishes it as JSON Schema, and a test holds docs/scenarios.md to it.
#include "scenario/document.h"
#include "scenario/formats.h"
#include "scenario/names.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace racelab::scenario {

// Items of a list and entries of a map, where nothing else is said. The board takes as many events per trial.
constexpr int k_max_items = 4096;

struct Key;

struct Shape {
  enum class Kind { text, words, integer, number, duration, scalar, list, map, choice };

  Kind kind = Kind::text;
  // text
  Format format = Format::text;
  NameKind refers_to = NameKind::none;
  // words: the accepted ones. "true" and "false" also stand for the booleans.
  std::vector<std::string> words;
  // integer; duration in milliseconds
  std::uint64_t minimum = 0, maximum = 0;
  // list, map
  int min_items = 0, max_items = k_max_items;
  bool unique = false; // list of scalars: no repetition
  std::vector<Shape>
      inner; // list: the item's shape; map: the shape of values of free keys, or none; choice: alternatives
  // map
  std::vector<Key> keys;
  std::string key_noun = "key"; // for messages: "unknown feature 'x'"
  Format key_format = Format::name;
  NameKind keys_refer_to = NameKind::none;
};

struct Key {
  std::string name;
  Shape shape;
  std::string doc;      // one sentence
  std::string fallback; // what a missing key means, as it would be written; empty: nothing
  bool required = false;
};

Shape text(Format format = Format::text);
Shape reference(NameKind kind); // a text that must be a known name
Shape words(std::vector<std::string> accepted);
Shape integer(std::uint64_t minimum, std::uint64_t maximum);
Shape positive_number();
Shape duration(std::uint64_t minimum_ms, std::uint64_t maximum_ms);
Shape scalar(); // text, number, boolean or null
Shape list_of(Shape item, int min_items = 1, int max_items = k_max_items);
Shape unique_list_of(Shape item);
Shape map_of(Format key_format, Shape value, int min_items = 1);
Shape object(std::vector<Key> keys);
// At most one alternative per YAML kind (scalar, list, map), so that the kind alone tells which one is meant.
Shape either(std::vector<Shape> alternatives);

// "a, b or c".
std::string or_join(const std::vector<std::string>& parts);

// "a whole number from 1 to 100000", "a list or a map".
std::string describe(const Shape& shape);

// Readers of scalars: false unless the whole text is one. Also used after validation, where they cannot fail.
bool read_integer(const Value& value, std::uint64_t& result);
bool read_number(const Value& value, double& result);

// Adds every deviation of `value` to `diagnostics` and cuts it out of `value`: an unknown key and a wrong list item are
// removed, a wrong value of a key becomes null. What is left has the shape, though required keys may be missing.
void validate(Value& value, const Shape& shape, const NameTables& names, Diagnostics& diagnostics);

} // namespace racelab::scenario

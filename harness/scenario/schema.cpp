// The JSON Schema of scenario files, made from the shape that the parser checks against.
#include "scenario/keys.h"
#include "scenario/parse.h"
#include "scenario/shape.h"

#include <algorithm>

namespace racelab::scenario {

namespace {

class SchemaWriter {
public:
  explicit SchemaWriter(const Vocabulary& vocabulary) : m_vocabulary(vocabulary) {}

  Json write(const Shape& shape) const {
    switch (shape.kind) {
    case Shape::Kind::text:
      return write_text(shape);
    case Shape::Kind::words:
      return write_words(shape);
    case Shape::Kind::integer:
      return {{"type", "integer"}, {"minimum", shape.minimum}, {"maximum", shape.maximum}};
    case Shape::Kind::number:
      return {{"type", "number"}, {"exclusiveMinimum", 0}};
    case Shape::Kind::duration:
      return {{"type", "string"}, {"pattern", R"(^\s*([0-9]+(\.[0-9]*)?\s*(ms|s|m|h)\s*)+$)"}};
    case Shape::Kind::scalar:
      return {{"type", {"string", "number", "boolean", "null"}}};
    case Shape::Kind::list:
      return write_list(shape);
    case Shape::Kind::map:
      return write_map(shape);
    case Shape::Kind::choice:
      break;
    }
    Json alternatives = Json::array();
    for (const Shape& alternative : shape.inner)
      alternatives.push_back(write(alternative));
    return {{"anyOf", alternatives}};
  }

private:
  // A name that a scenario may itself define cannot be enumerated, so references are checked by pattern only.
  static Json write_text(const Shape& shape) {
    if (shape.format == Format::any)
      return {{"type", {"string", "number", "boolean"}}};
    const Format format = shape.refers_to == NameKind::none ? shape.format : Format::name;
    return {{"type", "string"}, {"pattern", rule_of(format).pattern}};
  }

  static Json write_words(const Shape& shape) {
    Json accepted = shape.words;
    for (const auto& [word, boolean] : {std::pair("true", true), std::pair("false", false)})
      if (std::find(shape.words.begin(), shape.words.end(), word) != shape.words.end())
        accepted.push_back(boolean);
    return {{"enum", accepted}};
  }

  Json write_list(const Shape& shape) const {
    Json schema = {{"type", "array"}, {"items", write(shape.inner.front())}};
    if (shape.min_items > 0)
      schema["minItems"] = shape.min_items;
    schema["maxItems"] = shape.max_items;
    if (shape.unique)
      schema["uniqueItems"] = true;
    return schema;
  }

  Json write_map(const Shape& shape) const {
    Json schema = {{"type", "object"}};
    Json properties = Json::object();
    Json required = Json::array();
    for (const Key& key : shape.keys) {
      Json property = {{"description", key.doc + (key.fallback.empty() ? "" : " Default: " + key.fallback + ".")}};
      property.update(write(key.shape));
      properties[key.name] = std::move(property);
      if (key.required)
        required.push_back(key.name);
    }
    if (!properties.empty())
      schema["properties"] = std::move(properties);
    if (!required.empty())
      schema["required"] = std::move(required);
    if (shape.inner.empty()) {
      schema["additionalProperties"] = false;
    } else {
      schema["propertyNames"] = key_names(shape);
      schema["additionalProperties"] = write(shape.inner.front());
    }
    if (shape.min_items > 0)
      schema["minProperties"] = shape.min_items;
    if (shape.max_items < k_max_items)
      schema["maxProperties"] = shape.max_items;
    return schema;
  }

  Json key_names(const Shape& shape) const { return {{"pattern", rule_of(shape.key_format).pattern}}; }

  const Vocabulary& m_vocabulary;
};

} // namespace

Json scenario_schema(const Vocabulary& vocabulary) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "racelab scenario"},
                 {"description", "One race-reproduction scenario of racelab; see docs/scenarios.md."}};
  schema.update(SchemaWriter(vocabulary).write(scenario_shape(vocabulary)));
  return schema;
}

} // namespace racelab::scenario

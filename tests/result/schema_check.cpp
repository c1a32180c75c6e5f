#include "schema_check.h"

#include <algorithm>
#include <set>

namespace racelab::test {

namespace {

bool has_type(const Json& value, const std::string& type) {
  return type == "object"    ? value.is_object()
         : type == "array"   ? value.is_array()
         : type == "string"  ? value.is_string()
         : type == "integer" ? value.is_number_integer()
         : type == "number"  ? value.is_number()
         : type == "boolean" ? value.is_boolean()
         : type == "null"    ? value.is_null()
                             : false;
}

class Checker {
public:
  Checker(const Json& root, Unknown unknown) : m_root(root), m_unknown(unknown) {}

  void check(const Json& schema, const Json& value, const std::string& path) {
    check_keywords(schema, path);
    if (schema.contains("$ref")) {
      const Json::json_pointer target(schema["$ref"].get<std::string>().substr(1));
      check(m_root.at(target), value, path);
    }
    if (schema.contains("type") && !matches_type(schema["type"], value)) {
      problem(path, "is not of type " + schema["type"].dump() + ": " + value.dump());
      return;
    }
    check_value(schema, value, path);
    if (value.is_object())
      check_object(schema, value, path);
    if (value.is_array())
      check_array(schema, value, path);
  }

  std::vector<std::string> take() { return std::move(m_problems); }

private:
  static bool matches_type(const Json& type, const Json& value) {
    if (type.is_string())
      return has_type(value, type);
    return std::any_of(type.begin(), type.end(), [&](const Json& one) { return has_type(value, one); });
  }

  void check_keywords(const Json& schema, const std::string& path) {
    static const std::set<std::string> known = {"$schema",     "$defs",    "$ref",     "title",
                                                "description", "type",     "required", "properties",
                                                "items",       "minItems", "maxItems", "additionalProperties",
                                                "enum",        "const",    "minimum",  "maximum"};
    for (const auto& [keyword, ignored] : schema.items())
      if (!known.contains(keyword))
        problem(path, "the schema uses '" + keyword + "', which this check does not know");
  }

  void check_value(const Json& schema, const Json& value, const std::string& path) {
    if (schema.contains("const") && value != schema["const"])
      problem(path, "is not " + schema["const"].dump());
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      problem(path, "is none of " + schema["enum"].dump() + ": " + value.dump());
    if (schema.contains("minimum") && value.is_number() && value < schema["minimum"])
      problem(path, "is less than " + schema["minimum"].dump());
    if (schema.contains("maximum") && value.is_number() && value > schema["maximum"])
      problem(path, "is more than " + schema["maximum"].dump());
  }

  void check_object(const Json& schema, const Json& value, const std::string& path) {
    for (const Json& key : schema.value("required", Json::array()))
      if (!value.contains(key.get<std::string>()))
        problem(path, "lacks " + key.dump());
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [key, member] : value.items()) {
      const std::string member_path = path + "." + key;
      if (properties.contains(key))
        check(properties[key], member, member_path);
      else if (schema.contains("additionalProperties"))
        check(schema["additionalProperties"], member, member_path);
      else if (m_unknown == Unknown::reported && !schema.contains("$ref"))
        problem(member_path, "is not in the schema");
    }
  }

  void check_array(const Json& schema, const Json& value, const std::string& path) {
    if (schema.contains("minItems") && value.size() < schema["minItems"])
      problem(path, "has too few items");
    if (schema.contains("maxItems") && value.size() > schema["maxItems"])
      problem(path, "has too many items");
    if (schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], path + "[" + std::to_string(i) + "]");
  }

  void problem(const std::string& path, const std::string& what) { m_problems.push_back(path + " " + what); }

  const Json& m_root;
  Unknown m_unknown;
  std::vector<std::string> m_problems;
};

} // namespace

std::vector<std::string> schema_problems(const Json& schema, const Json& document, Unknown unknown) {
  Checker checker(schema, unknown);
  checker.check(schema, document, "$");
  return checker.take();
}

} // namespace racelab::test

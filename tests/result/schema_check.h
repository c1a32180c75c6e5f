#pragma once
// Checks a document against a JSON Schema that uses only: $ref into $defs, type, required, properties,
// additionalProperties (a schema), items, minItems, maxItems, enum, const, minimum, maximum. Any other keyword is a
// problem, so that none is ignored by mistake.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::test {

using Json = nlohmann::ordered_json;

enum class Unknown { allowed, reported }; // keys that the schema does not name

// One line per problem; empty: the document is valid.
std::vector<std::string> schema_problems(const Json& schema, const Json& document, Unknown unknown);

} // namespace racelab::test

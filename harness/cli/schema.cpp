// racelab schema
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include <iostream>

namespace racelab::cli {

int schema_verb(const std::vector<std::string>& arguments) {
  Options options("schema", "Prints the JSON Schema of scenario files, for editors.",
                  "The schema of result.json is reports/schemas/result.schema.json.");
  if (!options.parse(arguments)) {
    return 0;
  }
  std::cout << scenario::scenario_schema(vocabulary_of(load_catalogue())).dump(2) << "\n";
  return 0;
}

} // namespace racelab::cli

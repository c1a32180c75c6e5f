// racelab check
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"

#include <iostream>

namespace racelab::cli {

int check_verb(const std::vector<std::string>& arguments) {
  std::string file;
  std::vector<std::string> sets;
  Options options("check SCENARIO [options]",
                  "Validates a scenario file and touches nothing: every error with file, line and "
                  "column, exit code 2.");
  options.positional("SCENARIO", file, "A scenario file, or the name of one that ships");
  options.repeated("--set", sets, "PATH=VALUE", "Change a key of the scenario before checking");
  if (!options.parse(arguments)) {
    return 0;
  }
  const auto scenario = load_scenario(file, sets, load_catalogue());
  std::cout << scenario.file << ": ok: " << scenario.name << "\n";
  return 0;
}

} // namespace racelab::cli

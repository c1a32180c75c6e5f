// racelab explain
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "run/explain.h"
#include "run/runner.h"

#include <iostream>

namespace racelab::cli {

int explain_verb(const std::vector<std::string>& arguments) {
  std::string file, pattern;
  std::vector<std::string> sets;
  Options options("explain SCENARIO [options]",
                  "Says what a scenario will do on this machine: cells, orders, caches, layouts, "
                  "points, commands. Runs nothing but the toolkit's probe.");
  options.positional("SCENARIO", file, "A scenario file, or the name of one that ships");
  options.option("-k", pattern, "PATTERN", "Only cells whose id matches");
  options.repeated("--set", sets, "PATH=VALUE", "Change a key of the scenario");
  if (!options.parse(arguments)) {
    return 0;
  }
  const auto catalogue = load_catalogue();
  const auto scenario = load_scenario(file, sets, catalogue);
  run::RunOptions run_options;
  run_options.pattern = pattern;
  toolkit::InstalledToolkits toolkits;
  std::cout << run::explain(scenario, catalogue, run::plan_cells(scenario, run_options, toolkits));
  return 0;
}

} // namespace racelab::cli

// racelab list
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"
#include "base/text.h"
#include "oracle/oracle.h"
#include "result/read_run.h"
#include "run/runner.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

namespace racelab::cli {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> sorted_entries(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    entries.push_back(entry.path().string());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void list_scenarios() {
  const auto catalogue = load_catalogue();
  for (const std::string& folder : scenario_folders()) {
    for (const std::string& file : sorted_entries(folder)) {
      if (fs::path(file).extension() != ".yaml") {
        continue;
      }
      try {
        const auto scenario = load_scenario(file, {}, catalogue);
        std::string about(base::trim(scenario.about));
        std::replace(about.begin(), about.end(), '\n', ' ');
        std::cout << fmt::format("{:<28} {}\n{:<28} {}\n", scenario.name, about.substr(0, about.find(". ")), "", file);
      } catch (const base::UserError& error) {
        std::cout << fmt::format("{:<28} not valid: {}\n", fs::path(file).stem().string(), error.what());
      }
    }
    if (fs::is_directory(folder)) {
      return; // the working directory's own hide those that ship
    }
  }
}

void list_points() {
  const auto catalogue = load_catalogue();
  for (const auto& place : catalogue.places()) {
    std::cout << fmt::format("{}\n    {}\n    at {}:{}\n    events: {}\n", place.name, place.about, place.module,
                             place.attribute, base::join(schedule::events_of(place), ", "));
  }
}

void list_faults() {
  for (const auto& kind : oracle::fault_kinds()) {
    std::cout << fmt::format("{:<16} {}\n", kind.name, kind.about);
  }
}

void list_toolkits() {
  toolkit::InstalledToolkits toolkits;
  for (const std::string& name : toolkits.names()) {
    try {
      const auto t = toolkits.get(name);
      std::cout << fmt::format("{:<14} torch {}, triton {}, Python {}, {}\n", name, t.torch.empty() ? "none" : t.torch,
                               t.triton.empty() ? "none" : t.triton, t.python_version, t.python);
    } catch (const base::UserError& error) {
      std::cout << fmt::format("{:<14} {}\n", name, error.what());
    }
  }
}

void list_cells(const std::string& file) {
  if (file.empty()) {
    throw base::UserError(base::ExitCode::usage, "list cells: name a scenario");
  }
  const auto scenario = load_scenario(file, {}, load_catalogue());
  toolkit::InstalledToolkits toolkits;
  for (const auto& context : run::plan_cells(scenario, {}, toolkits)) {
    std::cout << fmt::format("{:<40} {} trials\n", context.cell.id, context.cell.trials);
  }
}

void list_runs() {
  for (const std::string& folder : sorted_entries("reports/runs")) {
    const auto run = result::read_run(folder + "/result.json");
    if (!run) {
      std::cout << folder << "  no result\n";
      continue;
    }
    std::cout << fmt::format("{}  {} cells, exit {}\n", folder, run->cells.size(), run->exit_code);
  }
}

} // namespace

int list_verb(const std::vector<std::string>& arguments) {
  std::string what = "scenarios", file;
  Options options("list [scenarios|cells SCENARIO|points|faults|toolkits|runs]", "Lists what there is.");
  options.positional("WHAT", what, "scenarios (default), cells, points, faults, toolkits or runs", false);
  options.positional("SCENARIO", file, "for cells", false);
  if (!options.parse(arguments)) {
    return 0;
  }
  const std::vector<std::string> kinds{"scenarios", "cells", "points", "faults", "toolkits", "runs"};
  if (what == "scenarios") {
    list_scenarios();
  } else if (what == "cells") {
    list_cells(file);
  } else if (what == "points") {
    list_points();
  } else if (what == "faults") {
    list_faults();
  } else if (what == "toolkits") {
    list_toolkits();
  } else if (what == "runs") {
    list_runs();
  } else {
    throw base::UserError(base::ExitCode::usage, "list " + what + ": there is no such list" +
                                                     base::did_you_mean(what, kinds) + "; there are " +
                                                     base::join(kinds, ", "));
  }
  return 0;
}

} // namespace racelab::cli

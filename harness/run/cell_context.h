#pragma once
// Everything that the trials of one cell have in common, resolved for this machine.
#include "base/subprocess.h"
#include "layout/layout.h"
#include "scenario/expand.h"
#include "schedule/catalogue.h"
#include "toolkit/toolkit.h"

#include <optional>
#include <string>
#include <vector>

namespace racelab::run {

struct CellContext {
  scenario::Cell cell;
  toolkit::Toolkit toolkit;
  scenario::CacheState cache;
  scenario::Mitigation mitigation;
  schedule::Interleaving interleaving;
  layout::Placement placement;
  std::vector<std::string> argv;   // absolute program first, placeholders filled
  bool python = false;             // argv[0] is the toolkit's interpreter
  std::optional<std::string> skip; // why the cell cannot run here
  base::Environment environment;   // what every trial of the cell sees, without what is private to a trial
};

// Throws base::UserError: a program that is not there.
CellContext resolve_cell(const scenario::Scenario& scenario, const scenario::Cell& cell,
                         const toolkit::Toolkit& toolkit, const layout::Devices& devices);

// The environment of a trial before the scenario adds to it: an allow-list of this process's own, and the agent on
// PYTHONPATH.
base::Environment clean_environment();

// Fingerprint of what a warm cache of this cell depends on: toolkit, command line, environment, mitigation, program
// files.
std::string snapshot_key(const CellContext& context, const std::string& working_directory);

} // namespace racelab::run

#pragma once
// From an interleaving to what a trial's board and agent are told.
#include "board/board.h"
#include "run/cell_context.h"
#include "scenario/scenario.h"
#include "schedule/catalogue.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::run {

// The catalogue with the scenario's own points, locks and tokens source added.
schedule::Catalogue catalogue_for(const schedule::Catalogue& builtin, const scenario::Scenario& scenario);

// The places that a trial installs: those its interleaving and its cache state name, those the scenario records, and
// those the oracles need.
std::vector<std::string> places_used(const schedule::Interleaving& interleaving, const scenario::CacheState& state,
                                     const scenario::Scenario& scenario, const schedule::Catalogue& catalogue);

board::Plan board_plan(const schedule::Interleaving& interleaving, const scenario::CacheState& state,
                       const std::vector<std::string>& places, const schedule::Catalogue& catalogue);

// What the agent reads (agent.json): files to write to, points to install, settings to make.
nlohmann::ordered_json agent_config(const scenario::Scenario& scenario, const scenario::Mitigation& mitigation,
                                    const std::vector<std::string>& places, const std::string& facts_file,
                                    const std::string& stacks_file);

} // namespace racelab::run

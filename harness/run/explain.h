#pragma once
// What a scenario will do on this machine, as text: cells, orders, caches, layouts, points.
#include "run/cell_context.h"
#include "scenario/scenario.h"
#include "schedule/catalogue.h"

#include <string>
#include <vector>

namespace racelab::run {

std::string explain(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue,
                    const std::vector<CellContext>& cells);

} // namespace racelab::run

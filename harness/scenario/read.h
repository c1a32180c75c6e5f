#pragma once
// From a validated document to the model, and the checks that need more than one place of the document.
#include "scenario/document.h"
#include "scenario/names.h"
#include "scenario/scenario.h"

namespace racelab::scenario {

// `document` has been cut to its shape by validate(); what is missing gets the model's defaults. Takes events and
// orders apart, and reports those that cannot be. `file`, `directory` and `digest` are left to the caller, but
// `directory` must be set already: the pipeline's own is relative to it.
void read_scenario(const Value& document, const NameTables& names, Scenario& scenario, Diagnostics& diagnostics);

// What contradicts itself: orders in a circle, placeholders without their role, names that hide built-in ones, rules
// without effect.
void check_scenario(const Value& document, const NameTables& names, const Vocabulary& vocabulary,
                    const Scenario& scenario, Diagnostics& diagnostics);

} // namespace racelab::scenario

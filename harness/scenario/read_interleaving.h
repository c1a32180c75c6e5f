#pragma once
// The forms of one entry of `interleavings`.
#include "scenario/document.h"
#include "scenario/names.h"
#include "schedule/interleaving.h"

namespace racelab::scenario {

// `entry.value` has the shape of an interleaving. Wrong events are reported and left out.
schedule::Interleaving read_interleaving(const Entry& entry, const NameTables& names, Diagnostics& diagnostics);

} // namespace racelab::scenario

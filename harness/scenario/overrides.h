#pragma once
// "--set PATH=VALUE" on a document: the same checks then meet the changed document, and their messages name the
// override.
#include "scenario/document.h"
#include "scenario/parse.h"

namespace racelab::scenario {

// Short forms set an axis of the matrix (`cache=cold,warm`); any other path names keys from the top, joined by dots,
// and makes what is missing. A number names an item of a list that exists.
void apply_override(Value& document, const Override& override_, Diagnostics& diagnostics);

} // namespace racelab::scenario

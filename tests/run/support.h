#pragma once
// A small catalogue, a small scenario, and a temporary folder.
#include "../support/folder.h"
#include "run/plan.h"

#include <string>
#include <vector>

namespace racelab::run::test {

using racelab::test::Folder;

void put(const std::string& file, const std::string& text);

// compiled_call and dynamo.compile (regions), fx.trace (scope), compile_lock (lock).
const schedule::Catalogue& builtin();

// A point `queue.put`, a lock `queue_lock`, tokens, and one of every axis, in the folder /s.
scenario::Scenario small_scenario();

schedule::Interleaving ordered(const std::vector<std::string>& events);

} // namespace racelab::run::test

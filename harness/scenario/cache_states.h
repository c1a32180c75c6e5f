#pragma once
// Cache states as a file writes them: the plain names, and the maps that define states of one's own.
#include "scenario/document.h"
#include "scenario/scenario.h"

#include <string>
#include <vector>

namespace racelab::scenario {

// "cold", "warm", "half-warm", …: states that need no definition.
const std::vector<std::string>& plain_cache_states();

// What a plain name means.
CacheState plain_cache_state(const std::string& name, const base::SourcePlace& place);

// One entry of a `caches` map that has been validated.
CacheState read_cache_state(const Entry& entry);

// One entry of a `cache_directories` map that has been validated.
CacheDirectory read_cache_directory(const Entry& entry);

} // namespace racelab::scenario

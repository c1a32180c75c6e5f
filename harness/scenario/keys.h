#pragma once
// The keys of a scenario file: the one description that the check, the JSON Schema and the documentation follow.
#include "scenario/parse.h"
#include "scenario/shape.h"

namespace racelab::scenario {

constexpr int k_format_version = 1;
constexpr int k_max_trials = 100'000;
constexpr std::size_t k_max_cells = 100'000; // of one scenario, over all axes

// `vocabulary` gives the toolkit features; without any, every feature name is accepted.
Shape scenario_shape(const Vocabulary& vocabulary);

} // namespace racelab::scenario

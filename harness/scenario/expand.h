#pragma once
// From a scenario to its cells: one combination of toolkit x cache state x layout x interleaving x mitigation.
#include "scenario/scenario.h"

#include <map>
#include <string>
#include <vector>

namespace racelab::scenario {

// Feature -> value of one toolkit, e.g. {"fx_flag", "global"}.
using Features = std::map<std::string, std::string>;

struct Cell {
  // "cold/nested-trace": cache and interleaving, then (only where the matrix has more than one of them) the layout, the
  // mitigation and the toolkit, joined with '/'. Stable under adding names to other axes of length > 1.
  std::string id;
  std::string toolkit, cache, layout, interleaving, mitigation;
  int trials = 0;
};

// Cells in stable order: toolkits outermost, then caches, layouts, mitigations, interleavings, each in file order.
// `exclude` rules that name features are judged by `features_of[toolkit]`.
std::vector<Cell> expand(const Scenario& scenario, const std::map<std::string, Features>& features_of);

bool matches(const When& when, const Cell& cell, const Features& features);

// What the `expect` rules together say of one cell; later rules override earlier ones key by key.
struct CellExpectation {
  std::vector<std::string> status;
  std::vector<std::pair<std::string, Frequency>> faults;
  std::vector<ThroughputBound> tokens_per_s;
};
CellExpectation expectation_of(const Scenario& scenario, const Cell& cell, const Features& features);

// Cells whose id matches `pattern` (a glob; without '*' or '?' any id that contains it).
std::vector<Cell> filter(const std::vector<Cell>& cells, const std::string& pattern);

const CacheState& find_cache(const Scenario&, const std::string& name);
const Layout& find_layout(const Scenario&, const std::string& name);
const Mitigation& find_mitigation(const Scenario&, const std::string& name);
const schedule::Interleaving& find_interleaving(const Scenario&, const std::string& name);

} // namespace racelab::scenario

#include "scenario/expand.h"

#include "base/assert.h"
#include "base/text.h"

#include <algorithm>
#include <set>

namespace racelab::scenario {

namespace {

// An empty list of accepted names accepts every name.
bool accepts(const std::vector<std::string>& accepted, const std::string& name) {
  return accepted.empty() || std::find(accepted.begin(), accepted.end(), name) != accepted.end();
}

std::string cell_id(const Cell& cell, const Matrix& matrix) {
  std::string id = cell.cache + "/" + cell.interleaving;
  if (matrix.layouts.size() > 1)
    id += "/" + cell.layout;
  if (matrix.mitigations.size() > 1)
    id += "/" + cell.mitigation;
  if (matrix.toolkits.size() > 1)
    id += "/" + cell.toolkit;
  return id;
}

int trials_of(const Scenario& scenario, const Cell& cell, const Features& features) {
  int trials = scenario.trials;
  for (const auto& [when, count] : scenario.trials_where)
    if (matches(when, cell, features))
      trials = count;
  return trials;
}

// Sets the entry of `list` whose `key` equals that of `value`, or appends it.
template <typename T, typename Key> void set_by(std::vector<T>& list, const T& value, Key key) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& other) { return key(other) == key(value); });
  if (found == list.end())
    list.push_back(value);
  else
    *found = value;
}

template <typename T> const T& find_named(const std::vector<T>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& item) { return item.name == name; });
  RACELAB_ASSERT(found != list.end());
  return *found;
}

} // namespace

int Layout::logical_devices() const {
  std::set<int> devices;
  for (const auto& [role, gpus] : roles)
    devices.insert(gpus.begin(), gpus.end());
  return static_cast<int>(devices.size());
}

bool matches(const When& when, const Cell& cell, const Features& features) {
  const auto has_feature = [&](const auto& wanted) {
    const auto found = features.find(wanted.first);
    return found != features.end() && accepts(wanted.second, found->second);
  };
  return accepts(when.cache, cell.cache) && accepts(when.interleaving, cell.interleaving) &&
         accepts(when.layout, cell.layout) && accepts(when.mitigation, cell.mitigation) &&
         accepts(when.toolkit_name, cell.toolkit) &&
         std::all_of(when.features.begin(), when.features.end(), has_feature);
}

std::vector<Cell> expand(const Scenario& scenario, const std::map<std::string, Features>& features_of) {
  const Matrix& matrix = scenario.matrix;
  std::vector<Cell> cells;
  for (const std::string& toolkit : matrix.toolkits) {
    const auto known = features_of.find(toolkit);
    const Features features = known == features_of.end() ? Features() : known->second;
    for (const std::string& cache : matrix.caches)
      for (const std::string& layout : matrix.layouts)
        for (const std::string& mitigation : matrix.mitigations)
          for (const std::string& interleaving : matrix.interleavings) {
            Cell cell{"", toolkit, cache, layout, interleaving, mitigation, 0};
            if (std::any_of(matrix.exclude.begin(), matrix.exclude.end(),
                            [&](const When& when) { return matches(when, cell, features); }))
              continue;
            cell.id = cell_id(cell, matrix);
            cell.trials = trials_of(scenario, cell, features);
            cells.push_back(std::move(cell));
          }
  }
  return cells;
}

CellExpectation expectation_of(const Scenario& scenario, const Cell& cell, const Features& features) {
  CellExpectation expectation;
  for (const Expectation& rule : scenario.expect) {
    if (!matches(rule.when, cell, features))
      continue;
    if (!rule.status.empty())
      expectation.status = rule.status;
    for (const auto& fault : rule.faults)
      set_by(expectation.faults, fault, [](const auto& entry) { return entry.first; });
    for (const ThroughputBound& bound : rule.tokens_per_s)
      set_by(expectation.tokens_per_s, bound, [](const ThroughputBound& entry) { return entry.who; });
  }
  return expectation;
}

std::vector<Cell> filter(const std::vector<Cell>& cells, const std::string& pattern) {
  const bool glob = pattern.find_first_of("*?") != std::string::npos;
  std::vector<Cell> chosen;
  for (const Cell& cell : cells)
    if (glob ? base::glob_match(pattern, cell.id) : cell.id.find(pattern) != std::string::npos)
      chosen.push_back(cell);
  return chosen;
}

const CacheState& find_cache(const Scenario& scenario, const std::string& name) {
  return find_named(scenario.caches, name);
}

const Layout& find_layout(const Scenario& scenario, const std::string& name) {
  return find_named(scenario.layouts, name);
}

const Mitigation& find_mitigation(const Scenario& scenario, const std::string& name) {
  return find_named(scenario.mitigations, name);
}

const schedule::Interleaving& find_interleaving(const Scenario& scenario, const std::string& name) {
  return find_named(scenario.interleavings, name);
}

} // namespace racelab::scenario

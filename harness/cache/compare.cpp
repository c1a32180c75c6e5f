// What two inspections of caches have in common.
#include "base/digest.h"
#include "cache/inspect.h"

#include <algorithm>
#include <set>

namespace racelab::cache {

namespace {

// Layer and entry (or file, where it is of no entry) -> digest over the files that it has.
using Units = std::map<std::pair<std::string, std::string>, std::string>;

Units units_of(const Inspection& inspection, const std::string& all_layers) {
  Units units;
  for (const CachedFile& file : inspection.files) { // sorted, so that the digest is of an order
    const std::string unit = file.entry.empty() ? file.place : file.entry;
    std::string& digest = units[{all_layers.empty() ? file.layer : all_layers, unit}];
    digest = base::digest(digest + file.place + "|" + file.facts.digest + "|" + std::to_string(file.size));
  }
  return units;
}

void count(const Units& before, const Units& after, std::map<std::string, LayerDifference>& layers) {
  for (const auto& [unit, digest] : before) {
    const auto at = after.find(unit);
    LayerDifference& layer = layers[unit.first];
    ++(at == after.end() ? layer.less : at->second == digest ? layer.same : layer.changed);
  }
  for (const auto& [unit, digest] : after) {
    layers[unit.first].more += before.count(unit) == 0 ? 1 : 0;
  }
}

std::vector<Finding> differing_files(const Inspection& before, const Inspection& after) {
  std::vector<Finding> findings;
  std::map<std::string, const CachedFile*> old;
  for (const CachedFile& file : before.files) {
    old.emplace(file.place, &file);
  }
  std::set<std::string> kept;
  for (const CachedFile& file : after.files) {
    const auto at = old.find(file.place);
    kept.insert(file.place);
    if (at == old.end()) {
      findings.push_back({file.place, file.layer, "more"});
    } else if (at->second->facts.digest != file.facts.digest || at->second->size != file.size) {
      findings.push_back({file.place, file.layer, "changed"});
    }
  }
  for (const CachedFile& file : before.files) {
    if (kept.count(file.place) == 0) {
      findings.push_back({file.place, file.layer, "less"});
    }
  }
  std::sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.path < b.path; });
  return findings;
}

const LayerSum* find_sum(const Inspection& inspection, const std::string& layer) {
  const auto at = std::find_if(inspection.layers.begin(), inspection.layers.end(),
                               [&](const LayerSum& sum) { return sum.name == layer; });
  return at == inspection.layers.end() ? nullptr : &*at;
}

} // namespace

Difference compare(const Inspection& before, const Inspection& after) {
  Difference difference;
  std::map<std::string, LayerDifference> layers, total;
  count(units_of(before, ""), units_of(after, ""), layers);
  count(units_of(before, "total"), units_of(after, "total"), total);
  difference.total = total["total"];
  difference.total.name = "total";
  difference.total.before = before.total;
  difference.total.after = after.total;
  for (const Inspection* side : {&before, &after}) { // both are in the order of layers
    for (const LayerSum& sum : side->layers) {
      const auto at = layers.find(sum.name);
      if (at == layers.end()) {
        continue;
      }
      LayerDifference layer = at->second;
      layer.name = sum.name;
      const LayerSum *old = find_sum(before, sum.name), *now = find_sum(after, sum.name);
      layer.before = old == nullptr ? LayerSum{} : *old;
      layer.after = now == nullptr ? LayerSum{} : *now;
      difference.layers.push_back(layer);
      layers.erase(at);
    }
  }
  difference.files = differing_files(before, after);
  return difference;
}

} // namespace racelab::cache

#include "run/explain.h"

#include "base/paths.h"
#include "base/text.h"
#include "cache/caches.h"
#include "run/plan.h"
#include "run/warm_cache.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace racelab::run {

namespace {

std::string order_text(const schedule::Interleaving& interleaving) {
  switch (interleaving.kind) {
  case schedule::InterleavingKind::free:
    return "recorded, not controlled";
  case schedule::InterleavingKind::serialize:
    return "no two actors at once inside " + base::join(interleaving.regions, ", ");
  case schedule::InterleavingKind::ordered:
    break;
  }
  const int n = static_cast<int>(interleaving.events.size());
  std::string text;
  if (interleaving.edges == schedule::chain_edges(n)) {
    for (int i = 0; i < n; ++i) {
      const auto& kills = interleaving.kills;
      text +=
          fmt::format("{}{}. {}{}", i == 0 ? "" : "\n               ", i + 1,
                      schedule::to_string(interleaving.events[static_cast<std::size_t>(i)]),
                      std::find(kills.begin(), kills.end(), i) == kills.end() ? "" : ", where its process is killed");
    }
    return text;
  }
  for (const auto& [before, after] : interleaving.edges) {
    text += fmt::format("{}{} before {}", text.empty() ? "" : "\n               ",
                        schedule::to_string(interleaving.events[static_cast<std::size_t>(before)]),
                        schedule::to_string(interleaving.events[static_cast<std::size_t>(after)]));
  }
  return text;
}

// What is done to a state beyond filling it, and what happens to it.
std::string changes_text(const scenario::CacheState& state) {
  std::vector<std::string> changes;
  for (const std::string& layer : state.without) {
    changes.push_back("without " + layer);
  }
  for (const auto& damage : state.damage) {
    changes.push_back(damage.layer + " " + damage.how);
  }
  if (!state.forge_layer.empty()) {
    changes.push_back("the content of " + state.forge_layer + " from " + state.forge_by);
  }
  for (const std::string& what : state.left_behind) {
    changes.push_back(what + " files left behind");
  }
  if (state.quota_bytes > 0) {
    changes.push_back("room for " + base::format_bytes(state.quota_bytes) + " more");
  }
  if (state.read_only) {
    changes.push_back("read-only");
  }
  if (state.vanish_at) {
    changes.push_back("removed at " + schedule::to_string(*state.vanish_at));
  }
  if (state.copies > 1) {
    changes.push_back(fmt::format("shared by {} processes", state.copies));
  }
  return changes.empty() ? "" : "; " + base::join(changes, ", ");
}

std::string source_text(const CellContext& context, const scenario::Scenario& scenario) {
  if (!context.cache.filled_by.empty()) {
    return "filled by the toolkit " + (context.cache.filled_by == "*" ? "with another torch" : context.cache.filled_by);
  }
  if (!cache::needs_snapshot(context.cache)) {
    return "starts empty";
  }
  const std::string key = warm_cache_key(context, scenario);
  const bool kept = cache::SnapshotStore(base::cache_home() + "/snapshots").find(key).has_value();
  return kept ? "a copy of snapshot " + key : "a copy of a snapshot that a serial run fills first (" + key + ")";
}

std::string expectation_text(const scenario::CellExpectation& expectation) {
  static const char* const k_frequencies[] = {"always", "never", "sometimes", "any"};
  std::string text;
  if (!expectation.status.empty()) {
    text = "order " + base::join(expectation.status, " or ");
  }
  for (const auto& [kind, frequency] : expectation.faults) {
    text += (text.empty() ? "" : ", ") + kind + " " + k_frequencies[static_cast<int>(frequency)];
  }
  return text.empty() ? "no fault" : text + ", no other fault";
}

} // namespace

std::string explain(const scenario::Scenario& scenario, const schedule::Catalogue& builtin,
                    const std::vector<CellContext>& cells) {
  std::string text =
      scenario.name + (scenario.about.empty() ? "" : ": " + std::string(base::trim(scenario.about))) + "\n";
  text += fmt::format("  launch       {}, time limit {} a trial\n",
                      scenario.launch == scenario::LaunchMode::fork_server ? "fork server" : "a fresh process each",
                      base::format_duration(scenario.time_limit));
  const auto catalogue = catalogue_for(builtin, scenario);
  std::set<std::string> toolkits;
  for (const CellContext& c : cells) {
    if (toolkits.insert(c.toolkit.name).second) {
      std::string features;
      for (const auto& [name, value] : c.toolkit.features) {
        features += " " + name + "=" + value;
      }
      text += fmt::format("  toolkit      {}: {} (torch {}, Python {}){}\n", c.toolkit.name, c.toolkit.python,
                          c.toolkit.torch.empty() ? "none" : c.toolkit.torch, c.toolkit.python_version, features);
    }
  }
  for (const CellContext& c : cells) {
    text += fmt::format("\ncell {} ({} trials)\n", c.cell.id, c.cell.trials);
    if (c.skip) {
      text += "  skipped      " + *c.skip + "\n";
      continue;
    }
    text += "  order        " + order_text(c.interleaving) + "\n";
    text += "  cache        " + c.cache.name + ": " + source_text(c, scenario) + changes_text(c.cache) + "\n";
    text += "  layout       " + c.placement.text + "\n";
    const auto places = places_used(c.interleaving, c.cache, scenario, catalogue);
    text += "  points       " + base::join(places, ", ") + "\n";
    for (const std::string& place : places) {
      if (const auto missing = c.toolkit.missing_points.find(place); missing != c.toolkit.missing_points.end()) {
        text += "  missing      " + place + ": " + missing->second + "\n";
      }
    }
    text += "  expected     " + expectation_text(scenario::expectation_of(scenario, c.cell, c.toolkit.features)) + "\n";
    text += "  command      " + base::join(c.argv, " ") + "\n";
  }
  return text;
}

} // namespace racelab::run

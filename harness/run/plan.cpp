#include "run/plan.h"

#include "base/assert.h"

#include <algorithm>

namespace racelab::run {

using schedule::Catalogue;
using schedule::InterleavingKind;
using schedule::Place;
using schedule::PlaceKind;

namespace {

// Recorded in every trial: faults and the column view are made from these.
constexpr const char* k_oracle_places[] = {"compiled_call", "fx.trace", "compile_lock"};
constexpr const char* k_tokens = "tokens";

board::PointKind kind_of(const Place& place, const std::string& event, bool serialized) {
  if (place.kind == PlaceKind::moment) {
    return board::PointKind::plain;
  }
  const std::string last = event.substr(place.name.size() + 1);
  if (place.kind == PlaceKind::lock) {
    return last == "wanted" ? board::PointKind::lock_wanted
                            : (last == "taken" ? board::PointKind::lock_taken : board::PointKind::lock_released);
  }
  // What counts as entering a serialized scope is the event outside of it: once inside it would be too late to wait.
  const bool outer = place.kind == PlaceKind::scope && serialized;
  if (last == (outer ? "before" : "enter")) {
    return board::PointKind::enter;
  }
  return last == (outer ? "after" : "exit") ? board::PointKind::exit : board::PointKind::plain;
}

// Only the conditions that are given.
nlohmann::ordered_json actor_config(const scenario::ActorRule& rule) {
  nlohmann::ordered_json config{{"name", rule.name}};
  const std::pair<const char*, const std::string&> texts[] = {
      {"thread", rule.thread}, {"entry", rule.entry}, {"process", rule.process}};
  for (const auto& [key, text] : texts) {
    if (!text.empty()) {
      config[key] = text;
    }
  }
  if (rule.process_number) {
    config["process"] = *rule.process_number;
  }
  if (rule.start) {
    config["start"] = *rule.start;
  }
  return config;
}

} // namespace

Catalogue catalogue_for(const Catalogue& builtin, const scenario::Scenario& scenario) {
  Catalogue all = builtin;
  for (const auto& point : scenario.points) {
    const PlaceKind kind = point.is_moment() ? PlaceKind::moment : PlaceKind::region;
    all.add({point.name, kind, "", point.at + point.line, "a point of the scenario"});
  }
  for (const auto& lock : scenario.locks) {
    all.add({lock.name, PlaceKind::lock, "", lock.at, "a lock of the scenario"});
  }
  if (scenario.tokens && !scenario.tokens->at.empty()) {
    all.add({k_tokens, PlaceKind::region, "", scenario.tokens->at, "the call whose value counts as tokens"});
  }
  return all;
}

std::vector<std::string> places_used(const schedule::Interleaving& interleaving, const scenario::CacheState& state,
                                     const scenario::Scenario& scenario, const Catalogue& catalogue) {
  std::vector<std::string> used;
  const auto add = [&](const std::string& name) {
    if (catalogue.find(name) != nullptr && std::find(used.begin(), used.end(), name) == used.end()) {
      used.push_back(name);
    }
  };
  for (const char* name : k_oracle_places) {
    add(name);
  }
  for (const auto& event : interleaving.events) {
    const Place* place = catalogue.place_of_event(event.point);
    RACELAB_ASSERT(place != nullptr); // the parser has checked it
    add(place->name);
  }
  for (const auto& names : {interleaving.regions, scenario.record}) {
    for (const std::string& name : names) {
      add(name);
    }
  }
  for (const auto& lock : scenario.locks) { // who holds and wants them explains what cannot be had
    add(lock.name);
  }
  add(k_tokens);
  const auto add_event = [&](const std::string& event) {
    if (const Place* place = catalogue.place_of_event(event)) {
      add(place->name);
    }
  };
  for (const auto& directory : scenario.cache_directories) { // each pass is a look-up
    add_event(directory.hit);
    add_event(directory.miss);
  }
  if (state.vanish_at) {
    add_event(state.vanish_at->point);
  }
  return used;
}

board::Plan board_plan(const schedule::Interleaving& interleaving, const scenario::CacheState& state,
                       const std::vector<std::string>& places, const Catalogue& catalogue) {
  board::Plan plan;
  for (const std::string& name : places) {
    const Place& place = *catalogue.find(name);
    const bool serialized =
        interleaving.kind == InterleavingKind::serialize &&
        std::find(interleaving.regions.begin(), interleaving.regions.end(), name) != interleaving.regions.end();
    if (place.kind == PlaceKind::lock) {
      plan.locks.push_back(name);
    }
    for (const std::string& event : schedule::events_of(place)) {
      plan.points.push_back({event, kind_of(place, event, serialized), serialized});
    }
  }
  if (interleaving.kind == InterleavingKind::ordered) {
    for (const auto& event : interleaving.events) {
      plan.steps.push_back({event.actor, event.point, event.hit});
    }
    for (const int event : interleaving.kills) {
      plan.steps[static_cast<std::size_t>(event)].kills = true;
    }
    plan.edges = interleaving.edges;
  }
  if (state.vanish_at) {
    plan.removal = {state.vanish_at->actor == "*" ? "" : state.vanish_at->actor, state.vanish_at->point,
                    state.vanish_at->hit};
  }
  return plan;
}

nlohmann::ordered_json agent_config(const scenario::Scenario& scenario, const scenario::Mitigation& mitigation,
                                    const std::vector<std::string>& places, const std::string& facts_file,
                                    const std::string& stacks_file) {
  using Json = nlohmann::ordered_json;
  const auto is_used = [&](const std::string& name) {
    return std::find(places.begin(), places.end(), name) != places.end();
  };
  Json points = Json::array(), lines = Json::array(), locks = Json::array(), actors = Json::array(),
       builtin = Json::array(), settings = Json::object();
  for (const auto& point : scenario.points) {
    if (is_used(point.name) && !point.at.empty()) {
      points.push_back({{"name", point.name}, {"at", point.at}});
    }
    if (is_used(point.name) && !point.line.empty()) {
      lines.push_back({{"name", point.name}, {"line", point.line}});
    }
  }
  for (const auto& lock : scenario.locks) {
    if (is_used(lock.name) && !lock.at.empty()) {
      locks.push_back({{"name", lock.name}, {"at", lock.at}});
    }
  }
  for (const std::string& name : places) {
    const auto is_own = [&](const auto& own) { return own.name == name; };
    if (name != k_tokens && std::none_of(scenario.points.begin(), scenario.points.end(), is_own) &&
        std::none_of(scenario.locks.begin(), scenario.locks.end(), is_own)) {
      builtin.push_back(name);
    }
  }
  for (const auto& rule : scenario.actors) {
    actors.push_back(actor_config(rule));
  }
  for (const auto& [name, value] : mitigation.config) {
    settings[name] = value;
  }
  Json config{{"facts", facts_file}, {"stacks", stacks_file}, {"install", builtin},
              {"points", points},    {"lines", lines},        {"locks", locks},
              {"actors", actors},    {"config", settings},    {"protect", scenario.protect_dead_thread_guard}};
  if (scenario.results && !scenario.results->at.empty()) {
    config["results"] = {{"at", scenario.results->at}, {"value", scenario.results->value}};
  }
  if (scenario.tokens && !scenario.tokens->at.empty()) {
    config["tokens"] = {{"at", scenario.tokens->at}, {"value", scenario.tokens->value}};
  }
  return config;
}

} // namespace racelab::run

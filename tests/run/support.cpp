#include "support.h"

#include "base/files.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace racelab::run::test {

namespace fs = std::filesystem;

void put(const std::string& file, const std::string& text) {
  fs::create_directories(fs::path(file).parent_path());
  if (!base::write_file(file, text))
    throw std::runtime_error(file + " cannot be written");
}

const schedule::Catalogue& builtin() {
  static const auto catalogue = schedule::Catalogue::parse(R"({"points": [
    {"name": "compiled_call", "kind": "region", "module": "m", "attribute": "a"},
    {"name": "fx.trace", "kind": "scope", "module": "m", "attribute": "a"},
    {"name": "compile_lock", "kind": "lock", "module": "m", "attribute": "a"},
    {"name": "dynamo.compile", "kind": "region", "module": "m", "attribute": "a"}]})");
  return catalogue.value();
}

scenario::Scenario small_scenario() {
  scenario::Scenario s;
  s.name = "small";
  s.directory = "/s";
  s.points = {{"queue.put", "pkg.queue:Queue.put", "", false, {}}};
  s.locks = {{"queue_lock", "pkg.queue:Queue.lock", {}}};
  s.tokens.emplace().at = "pkg.train:step";
  s.tokens->value = "0.tokens";
  s.caches = {{"cold", scenario::CacheKind::cold, {}}};
  s.layouts = {{"1t3d", {{"target", {0}}, {"drafter", {1, 2, 3}}}, 0, {}}};
  s.interleavings = {schedule::Interleaving{}};
  s.interleavings[0].name = "free";
  s.mitigations = {{"none", {}, {}, {}}};
  return s;
}

schedule::Interleaving ordered(const std::vector<std::string>& events) {
  schedule::Interleaving interleaving;
  interleaving.name = "ordered";
  interleaving.kind = schedule::InterleavingKind::ordered;
  for (const std::string& event : events)
    interleaving.events.push_back(schedule::parse_event(event).value());
  interleaving.edges = schedule::chain_edges(static_cast<int>(events.size()));
  return interleaving;
}

} // namespace racelab::run::test

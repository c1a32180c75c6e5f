// Any bytes as a scenario file: they are refused with places and one-line messages, or become cells that can be used.
#include "base/assert.h"
#include "base/files.h"
#include "oracle/oracle.h"
#include "scenario/expand.h"
#include "scenario/parse.h"
#include "schedule/catalogue.h"

#include <cstdint>
#include <set>
#include <string>

namespace {

using namespace racelab;

constexpr const char* k_file = "f.yaml";

scenario::Vocabulary vocabulary() {
  const auto text = base::read_file(RACELAB_SOURCE_DIR "/harness/agent/python/racelab_agent/catalogue.json");
  RACELAB_ASSERT(text);
  const auto catalogue = schedule::Catalogue::parse(*text);
  RACELAB_ASSERT(catalogue);
  scenario::Vocabulary vocabulary;
  for (const schedule::Place& place : catalogue->places()) {
    for (const std::string& event : schedule::events_of(place))
      vocabulary.points.push_back(event);
    (place.kind == schedule::PlaceKind::lock ? vocabulary.locks : vocabulary.regions).push_back(place.name);
  }
  for (const auto& kind : oracle::fault_kinds())
    vocabulary.fault_kinds.push_back(kind.name);
  vocabulary.features = {{"fx_flag", {"global", "thread_local"}},
                         {"nested_check", {"raises", "masked", "none"}},
                         {"is_compiling_leak", {"true", "false"}},
                         {"dead_thread_guard", {"crashes", "safe"}}};
  return vocabulary;
}

void expect_useful(const std::vector<base::Diagnostic>& errors) {
  RACELAB_ASSERT(!errors.empty());
  for (const base::Diagnostic& error : errors) {
    RACELAB_ASSERT(error.place.file == k_file);
    RACELAB_ASSERT(error.place.line >= 0 && error.place.column >= 0);
    RACELAB_ASSERT(!error.message.empty());
    for (const char c : error.message)
      RACELAB_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

void expect_usable(const scenario::Scenario& parsed) {
  const scenario::Features features = {{"fx_flag", "global"}};
  std::map<std::string, scenario::Features> features_of;
  for (const std::string& toolkit : parsed.matrix.toolkits)
    features_of[toolkit] = features;
  std::set<std::string> ids;
  for (const scenario::Cell& cell : scenario::expand(parsed, features_of)) {
    RACELAB_ASSERT(ids.insert(cell.id).second);
    RACELAB_ASSERT(cell.trials >= 1);
    scenario::expectation_of(parsed, cell, features);
    scenario::find_cache(parsed, cell.cache); // these assert that the name is there
    scenario::find_layout(parsed, cell.layout);
    scenario::find_mitigation(parsed, cell.mitigation);
    scenario::find_interleaving(parsed, cell.interleaving);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const scenario::Vocabulary k_vocabulary = vocabulary();
  const std::string text(data, data + size);
  const auto parsed = scenario::parse_scenario(text, k_file, "/s", k_vocabulary);
  if (parsed)
    expect_usable(*parsed);
  else
    expect_useful(parsed.error());
  return 0;
}

#pragma once
// Reads a scenario file strictly: every error of the file at once, each with file, line and column.
#include "scenario/scenario.h"

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::scenario {

// The names a scenario may use; filled from the point catalogue and the oracles by the caller.
struct Vocabulary {
  std::vector<std::string> points;                                    // events: "fx.trace.enter", "compile_lock.wanted"
  std::vector<std::string> regions;                                   // points with enter and exit: "fx.trace"
  std::vector<std::string> locks;                                     // "compile_lock"
  std::vector<std::string> fault_kinds;                               // "nested_tracing"
  std::vector<std::string> cache_layers;                              // "fx-graph"
  std::vector<std::string> damage_kinds;                              // "truncate-half"
  std::vector<std::pair<std::string, std::string>> cache_directories; // "inductor" -> "TORCHINDUCTOR_CACHE_DIR"
  std::vector<std::pair<std::string, std::vector<std::string>>> features; // "fx_flag" -> {"global", "thread_local"}
};

// A "--set PATH=VALUE" of the command line, applied to the document before it is checked: `trials=5`, `cache=cold`
// (shorthand for matrix.caches), `pipeline.env.X=1`, `launch=fresh`.
struct Override {
  std::string path;
  std::string value; // YAML text of the value
};

// `text` is the file's content, `file` its name for messages, `directory` its absolute folder.
tl::expected<Scenario, std::vector<base::Diagnostic>> parse_scenario(const std::string& text, const std::string& file,
                                                                     const std::string& directory,
                                                                     const Vocabulary& vocabulary,
                                                                     const std::vector<Override>& overrides = {});

// JSON Schema (draft 2020-12) of scenario files, for editors. Made from the same model that the parser checks against.
Json scenario_schema(const Vocabulary& vocabulary);

} // namespace racelab::scenario

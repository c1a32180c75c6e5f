#pragma once
// The names that a scenario may refer to: those of the program's vocabulary, and those that the document defines
// itself.
#include "scenario/document.h"
#include "scenario/parse.h"

#include <map>
#include <string>
#include <vector>

namespace racelab::scenario {

enum class NameKind {
  none,
  event,      // "fx.trace.enter", "compile_lock.wanted"
  region,     // "fx.trace"
  recordable, // what `record` takes: regions, locks and events
  fault_kind,
  cache,
  cache_layer,
  layout,
  interleaving,
  mitigation,
};

struct NameTable {
  std::string noun; // "sync point"
  std::vector<std::string> names;
  std::string remedy; // "(racelab list points)"; empty: the message lists the names

  bool has(const std::string& name) const;
};

// A kind without a table is not checked: the part of the document that should define its names is wrong already.
using NameTables = std::map<NameKind, NameTable>;

NameTables collect_names(const Value& document, const Vocabulary& vocabulary);

// "unknown sync point 'fx.trase.enter'; did you mean 'fx.trace.enter'? (racelab list points)", or what else is wrong
// with a name that is known as something different.
std::string unknown_name(NameKind kind, const std::string& name, const NameTables& tables);

} // namespace racelab::scenario

#include "scenario/names.h"

#include "base/text.h"
#include "scenario/shape.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

// Names to print where there is no command that lists them.
constexpr std::size_t k_max_listed = 12;

const char* const k_list_points = "(racelab list points)";

// The names that a section of the document defines: the keys of a map or the items of a list. `fallback` where the
// section is missing, nullopt where it is something else, or too large to be right.
std::optional<std::vector<std::string>> defined_in(const Value& document, const std::string& section,
                                                   std::vector<std::string> fallback) {
  if (!document.has(section))
    return fallback;
  const Value* value = document.find(section);
  if (value == nullptr || value->kind == Value::Kind::scalar ||
      value->entries.size() + value->items.size() > static_cast<std::size_t>(k_max_items))
    return std::nullopt;
  std::vector<std::string> names;
  for (const Entry& entry : value->entries)
    names.push_back(entry.key);
  for (const Value& item : value->items)
    if (item.kind == Value::Kind::scalar && std::find(names.begin(), names.end(), item.text) == names.end())
      names.push_back(item.text);
  return names;
}

void append(std::vector<std::string>& to, const std::vector<std::string>& names, const std::string& suffix = "") {
  for (const std::string& name : names)
    to.push_back(name + suffix);
}

// Of `points`: those on a line, and those that say so, have a single event, of the same name.
bool is_moment(const Value& document, const std::string& point) {
  const Value* points = document.find("points");
  const Value* place = points == nullptr ? nullptr : points->find(point);
  if (place == nullptr || place->kind != Value::Kind::map)
    return false;
  const Value* kind = place->find("kind");
  return place->has("line") || (kind != nullptr && kind->text == "event");
}

// Kinds of entries of all caches. Nothing where one of the document's own is not written as it should be.
std::optional<std::vector<std::string>> cache_layers(const Value& document, const Vocabulary& vocabulary) {
  std::vector<std::string> names = vocabulary.cache_layers;
  const Value* directories = document.find("cache_directories");
  if (names.empty() || (directories != nullptr && directories->kind != Value::Kind::map))
    return std::nullopt;
  if (directories != nullptr)
    for (const Entry& directory : directories->entries) {
      const Value* layers = directory.value.find("layers");
      if (layers == nullptr)
        names.push_back(directory.key);
      else
        for (const Entry& layer : layers->entries)
          names.push_back(layer.key);
    }
  return names;
}

// Built-in names and those that `points` and `locks` of the document add.
void add_code_names(NameTables& tables, const Value& document, const Vocabulary& vocabulary) {
  const auto points = defined_in(document, "points", {});
  const auto locks = defined_in(document, "locks", {});
  if (!points || !locks)
    return;
  NameTable events = {"sync point", vocabulary.points, k_list_points};
  std::vector<std::string> calls, moments;
  for (const std::string& point : *points)
    (is_moment(document, point) ? moments : calls).push_back(point);
  append(events.names, moments);
  for (const char* suffix : {".enter", ".exit"})
    append(events.names, calls, suffix);
  for (const char* suffix : {".wanted", ".taken", ".released"})
    append(events.names, *locks, suffix);
  NameTable regions = {"region", vocabulary.regions, k_list_points};
  append(regions.names, calls);

  NameTable recordable = {"point or lock", regions.names, k_list_points};
  append(recordable.names, vocabulary.locks);
  const Value* tokens = document.find("tokens");
  if (tokens != nullptr && tokens->has("at")) { // the call that makes tokens is a region of its own
    append(events.names, {"tokens.enter", "tokens.exit"});
    append(regions.names, {"tokens"});
    append(recordable.names, {"tokens"});
  }
  append(recordable.names, *locks);
  append(recordable.names, events.names);

  tables[NameKind::event] = std::move(events);
  tables[NameKind::region] = std::move(regions);
  tables[NameKind::recordable] = std::move(recordable);
}

// The events of a region or a lock.
std::vector<std::string> events_of(const std::string& place, const NameTable& events) {
  std::vector<std::string> names;
  for (const std::string& event : events.names)
    if (event.rfind('.') == place.size() && event.starts_with(place))
      names.push_back(event);
  return names;
}

bool known_as(NameKind kind, const std::string& name, const NameTables& tables) {
  const auto table = tables.find(kind);
  return table != tables.end() && table->second.has(name);
}

} // namespace

bool NameTable::has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

NameTables collect_names(const Value& document, const Vocabulary& vocabulary) {
  NameTables tables;
  add_code_names(tables, document, vocabulary);
  if (auto own = defined_in(document, "faults", {})) {
    append(*own, vocabulary.fault_kinds);
    tables[NameKind::fault_kind] = {"fault kind", std::move(*own), "(racelab list faults)"};
  }
  if (auto layers = cache_layers(document, vocabulary))
    tables[NameKind::cache_layer] = {"cache layer", std::move(*layers), ""};
  const auto add_section = [&](NameKind kind, const char* noun, const char* section, const char* fallback) {
    if (auto names = defined_in(document, section, {fallback}))
      tables[kind] = {noun, std::move(*names), ""};
  };
  add_section(NameKind::cache, "cache state", "caches", "cold");
  add_section(NameKind::layout, "layout", "layouts", "none");
  add_section(NameKind::interleaving, "interleaving", "interleavings", "free");
  add_section(NameKind::mitigation, "mitigation", "mitigations", "none");
  return tables;
}

std::string unknown_name(NameKind kind, const std::string& name, const NameTables& tables) {
  if (kind == NameKind::event && known_as(NameKind::recordable, name, tables))
    return fmt::format("'{}' is no event; write {}", name, or_join(events_of(name, tables.at(kind))));
  if (kind == NameKind::region && known_as(NameKind::recordable, name, tables))
    return fmt::format("'{}' has no enter and exit, so it is no region {}", name, k_list_points);

  const NameTable& table = tables.at(kind);
  std::string message = fmt::format("unknown {} '{}'", table.noun, name);
  const std::string meant = base::did_you_mean(name, table.names);
  message += meant;
  if (!table.remedy.empty())
    message += " " + table.remedy;
  else if (table.names.empty())
    message += " (there are none)";
  else if (meant.empty() && table.names.size() <= k_max_listed)
    message += fmt::format(" (known: {})", base::join(table.names, ", "));
  return message;
}

} // namespace racelab::scenario

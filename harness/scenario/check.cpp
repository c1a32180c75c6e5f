// The checks of read.h that need more than one place of the document.
#include "base/regex.h"
#include "base/text.h"
#include "scenario/keys.h"
#include "scenario/read.h"

#include <algorithm>
#include <regex>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

// "{layout.ROLE.count}" is the number of the role's actors.
std::string without_count(const std::string& role) {
  constexpr std::string_view suffix = ".count";
  return role.size() > suffix.size() && role.ends_with(suffix) ? role.substr(0, role.size() - suffix.size()) : role;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Checker {
public:
  Checker(const Value& document, const NameTables& names, const Vocabulary& vocabulary, const Scenario& scenario,
          Diagnostics& diagnostics)
      : m_document(document), m_names(names), m_vocabulary(vocabulary), m_scenario(scenario),
        m_diagnostics(diagnostics) {}

  void check() {
    check_new_names();
    check_caches();
    check_placeholders();
    check_times();
    if (m_scenario.tokens)
      check_numbers_source("tokens", *m_scenario.tokens);
    if (m_scenario.results)
      check_numbers_source("results", *m_scenario.results);
    check_expect();
    check_size();
  }

private:
  void check_new_name(const std::string& name, const base::SourcePlace& place) {
    if (contains(m_vocabulary.regions, name) || contains(m_vocabulary.locks, name) ||
        contains(m_vocabulary.points, name))
      m_diagnostics.add(place, fmt::format("'{}' is built in already; choose another name", name));
  }

  void check_new_names() {
    std::set<std::string> points;
    for (const PointDeclaration& point : m_scenario.points) {
      check_new_name(point.name, point.place);
      points.insert(point.name);
    }
    for (const LockDeclaration& lock : m_scenario.locks) {
      check_new_name(lock.name, lock.place);
      if (points.contains(lock.name))
        m_diagnostics.add(lock.place, fmt::format("'{}' is a point already; choose another name", lock.name));
    }
  }

  // A cell called "cold" in a report must be cold.
  void check_caches() {
    for (const CacheState& cache : m_scenario.caches) {
      const bool plain = !cache.is_special();
      if ((cache.name == "cold" && (cache.kind != CacheKind::cold || !plain)) ||
          (cache.name == "warm" && (cache.kind != CacheKind::warm || !plain)))
        m_diagnostics.add(cache.place, fmt::format("a cache state named '{0}' must be from {0}{1}", cache.name,
                                                   plain ? "" : " and nothing else"));
      if (cache.kind == CacheKind::cold && (cache.changes_entries() || !cache.filled_by.empty()))
        m_diagnostics.add(cache.place,
                          fmt::format("the cache state '{}' is made from an empty cache, which has nothing "
                                      "to change; it needs `from: warm`",
                                      cache.name));
      check_vanishing(cache);
    }
    check_cache_directories();
  }

  void check_vanishing(const CacheState& cache) {
    const auto events = m_names.find(NameKind::event);
    const Value* caches = m_document.find("caches");
    const Value* state = caches == nullptr ? nullptr : caches->find(cache.name);
    const Value* written = state == nullptr ? nullptr : state->find("vanish_at");
    if (written != nullptr && !cache.vanish_at)
      m_diagnostics.add(written->place, schedule::parse_event(written->text).error() + " (`*` is any actor)");
    if (cache.vanish_at && events != m_names.end() && !events->second.has(cache.vanish_at->point))
      m_diagnostics.add(cache.place, unknown_name(NameKind::event, cache.vanish_at->point, m_names));
  }

  void check_cache_directories() {
    std::set<std::string> variables, layers(m_vocabulary.cache_layers.begin(), m_vocabulary.cache_layers.end());
    for (const auto& [name, variable] : m_vocabulary.cache_directories)
      variables.insert(variable);
    for (const CacheDirectory& directory : m_scenario.cache_directories) {
      for (const auto& [name, variable] : m_vocabulary.cache_directories)
        if (name == directory.name)
          m_diagnostics.add(directory.place, fmt::format("'{}' is built in already; choose another name", name));
      if (!variables.insert(directory.variable).second)
        m_diagnostics.add(directory.place, fmt::format("{} names another cache directory already", directory.variable));
      if (directory.hit.empty() != directory.miss.empty())
        m_diagnostics.add(directory.place,
                          fmt::format("'{}' counts look-ups with `hit` and `miss`: give both or none", directory.name));
      for (const auto& [layer, patterns] : directory.layers)
        if (!layers.insert(layer).second)
          m_diagnostics.add(directory.place, fmt::format("the cache layer '{}' is there twice", layer));
    }
  }

  void check_placeholders() {
    if (const Value* pipeline = m_document.find("pipeline")) {
      check_placeholders_in(pipeline->find("command"));
      check_placeholders_in(pipeline->find("env"));
    }
    if (const Value* mitigations = m_document.find("mitigations"))
      for (const Entry& entry : mitigations->entries)
        check_placeholders_in(entry.value.find("env"));
  }

  void check_placeholders_in(const Value* value) {
    if (value == nullptr)
      return;
    if (value->kind == Value::Kind::scalar)
      check_placeholders_of(value->text, value->place);
    for (const Value& item : value->items)
      check_placeholders_of(item.text, item.place);
    for (const Entry& entry : value->entries)
      check_placeholders_of(entry.value.text, entry.value.place);
  }

  // Other braces are the program's own affair: JSON in an argument, say.
  void check_placeholders_of(const std::string& text, const base::SourcePlace& place) {
    for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
      const std::string rest = text.substr(open + 1, text.find_first_of("{}", open + 1) - open - 1);
      const bool closed = open + 1 + rest.size() < text.size() && text[open + 1 + rest.size()] == '}';
      if (!rest.starts_with("layout.") && !rest.starts_with("scenario."))
        continue;
      if (!closed)
        m_diagnostics.add(place, fmt::format("the placeholder '{{{}' is never closed", rest));
      else if (rest.starts_with("layout."))
        check_role(without_count(rest.substr(std::string_view("layout.").size())), place);
      else if (rest != "scenario.dir")
        m_diagnostics.add(place, fmt::format("unknown placeholder '{{{}}}'; did you mean '{{scenario.dir}}'?", rest));
    }
  }

  void check_role(const std::string& role, const base::SourcePlace& place) {
    for (const Layout& layout : m_scenario.layouts) {
      std::vector<std::string> roles;
      for (const auto& [name, gpus] : layout.roles)
        roles.push_back(name);
      if (!contains(roles, role))
        m_diagnostics.add(place, fmt::format("layout '{}' has no role '{}', which '{{layout.{}}}' needs{}", layout.name,
                                             role, role, base::did_you_mean(role, roles)));
    }
  }

  void check_times() {
    if (m_scenario.quiet_time < m_scenario.time_limit)
      return;
    const Value* place = m_document.find("quiet_time");
    if (place == nullptr)
      place = m_document.find("time_limit");
    if (place != nullptr)
      m_diagnostics.add(place->place, fmt::format("quiet_time ({}) must be shorter than time_limit ({})",
                                                  base::format_duration(m_scenario.quiet_time),
                                                  base::format_duration(m_scenario.time_limit)));
  }

  // `noun` is the key of the document.
  void check_numbers_source(const std::string& noun, const NumbersSource& source) {
    const Value& written = *m_document.find(noun);
    if (written.has("at") == written.has("output"))
      return m_diagnostics.add(source.place,
                               fmt::format("{} come from a call (`at`) or from the output (`output`): give one", noun));
    const bool from_call = source.output.empty();
    for (const char* key : {"value", "number", "actor", "is"})
      if (const Value* value = written.find(key); value != nullptr && (key == std::string("value")) != from_call)
        m_diagnostics.add(value->place, fmt::format("'{}' goes with `{}`", key, from_call ? "output" : "at"));
    if (!from_call)
      check_groups(written, source.output, {{"number", source.number_group}, {"actor", source.actor_group}});
  }

  void check_groups(const Value& written, const std::string& regex,
                    const std::vector<std::pair<const char*, int>>& used) {
    const auto groups = static_cast<int>(base::make_regex(regex).mark_count());
    if (used.size() == 2 && used[0].second == used[1].second) {
      const Value* actor = written.find("actor");
      m_diagnostics.add(actor->place,
                        fmt::format("group {} of `output` cannot be both the number and the actor's name; "
                                    "say which group is the number (`number`)",
                                    used[0].second));
    }
    for (const auto& [key, group] : used)
      if (group > groups) {
        const Value* place = written.find(key) != nullptr ? written.find(key) : written.find("output");
        m_diagnostics.add(place->place,
                          fmt::format("`output` has {} group{} in parentheses, so there is no group {} for "
                                      "'{}'",
                                      groups, groups == 1 ? "" : "s", group, key));
      }
  }

  void check_expect() {
    const Value* rules = m_document.find("expect");
    if (rules == nullptr)
      return;
    for (const Value& rule : rules->items)
      if (!rule.has("status") && !rule.has("faults") && !rule.has("tokens_per_s"))
        m_diagnostics.add(rule.place, "this rule expects nothing: give it status, faults or tokens_per_s");
  }

  // A few hundred names on each of five axes would be more cells than fit into memory.
  void check_size() {
    const Matrix& matrix = m_scenario.matrix;
    std::size_t cells = 1;
    for (const auto* axis :
         {&matrix.toolkits, &matrix.caches, &matrix.layouts, &matrix.mitigations, &matrix.interleavings})
      cells = std::min(cells * axis->size(), std::size_t{1} << 40U); // at most 4096 each: no overflow
    const Value* place = m_document.find("matrix");
    if (cells > k_max_cells)
      m_diagnostics.add((place != nullptr ? *place : m_document).place,
                        fmt::format("the matrix has {} cells; at most {} are possible (choose names in 'matrix')",
                                    cells, k_max_cells));
  }

  const Value& m_document;
  const NameTables& m_names;
  const Vocabulary& m_vocabulary;
  const Scenario& m_scenario;
  Diagnostics& m_diagnostics;
};

} // namespace

void check_scenario(const Value& document, const NameTables& names, const Vocabulary& vocabulary,
                    const Scenario& scenario, Diagnostics& diagnostics) {
  Checker(document, names, vocabulary, scenario, diagnostics).check();
}

} // namespace racelab::scenario

#include "scenario/read.h"

#include "base/text.h"
#include "scenario/cache_states.h"
#include "scenario/read_interleaving.h"
#include "scenario/shape.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

const std::vector<Entry>& entries_of(const Value* map) {
  static const std::vector<Entry> k_none;
  return map == nullptr ? k_none : map->entries;
}

std::vector<std::pair<std::string, std::string>> pairs_of(const Value* map) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Entry& entry : entries_of(map))
    pairs.emplace_back(entry.key, entry.value.text);
  return pairs;
}

// `result` stays as it is where the value is missing.
template <typename Integer> void read_integer_into(const Value* value, Integer& result) {
  std::uint64_t number = 0;
  if (value != nullptr && read_integer(*value, number))
    result = static_cast<Integer>(number);
}

void read_duration_into(const Value* value, std::chrono::milliseconds& result) {
  if (value != nullptr)
    if (const auto duration = base::parse_duration(value->text))
      result = *duration;
}

std::vector<std::string> names_of(const auto& definitions) {
  std::vector<std::string> names;
  names.reserve(definitions.size());
  for (const auto& definition : definitions)
    names.push_back(definition.name);
  return names;
}

// The JSON value that a YAML scalar stands for (core schema of YAML 1.2; Python's True and False come along).
Json json_of(const Value& value) {
  const std::string& text = value.text;
  if (value.kind == Value::Kind::null)
    return nullptr;
  if (!value.plain)
    return text;
  if (text == "true" || text == "True" || text == "TRUE")
    return true;
  if (text == "false" || text == "False" || text == "FALSE")
    return false;
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size())
    return whole;
  double number = 0;
  return read_number(value, number) ? Json(number) : Json(text);
}

class Reader {
public:
  Reader(const Value& document, const NameTables& names, Scenario& scenario, Diagnostics& diagnostics)
      : m_document(document), m_names(names), m_scenario(scenario), m_diagnostics(diagnostics) {}

  void read() {
    m_scenario.name = text_of(m_document.find("name"));
    m_scenario.about = text_of(m_document.find("about"));
    read_pipeline();
    read_code_places();
    for (const Entry& fault : entries_of(m_document.find("faults")))
      m_scenario.output_faults.push_back({fault.key, text_of(fault.value.find("output")), fault.place});
    if (const Value* protect = m_document.find("protect"))
      m_scenario.protect_dead_thread_guard = text_of(protect->find("dead_thread_guard")) != "false";
    m_scenario.record = texts_of(m_document.find("record"));
    for (const Entry& entry : entries_of(m_document.find("cache_directories")))
      m_scenario.cache_directories.push_back(read_cache_directory(entry));
    m_scenario.serial = texts_of(m_document.find("serial"));
    read_caches();
    read_layouts();
    read_interleavings();
    read_mitigations();
    read_matrix();
    read_trials();
    read_duration_into(m_document.find("time_limit"), m_scenario.time_limit);
    read_duration_into(m_document.find("quiet_time"), m_scenario.quiet_time);
    if (text_of(m_document.find("launch")) == "fresh")
      m_scenario.launch = LaunchMode::fresh;
    read_integer_into(m_document.find("seed"), m_scenario.seed);
    read_expect();
  }

private:
  void read_pipeline() {
    Pipeline& pipeline = m_scenario.pipeline;
    const std::filesystem::path base = m_scenario.directory;
    pipeline.directory = base.lexically_normal();
    const Value* value = m_document.find("pipeline");
    if (value == nullptr)
      return;
    if (const Value* cwd = value->find("cwd"))
      pipeline.directory = (base / cwd->text).lexically_normal();
    if (pipeline.directory.size() > 1 && pipeline.directory.ends_with('/'))
      pipeline.directory.pop_back();
    pipeline.env = pairs_of(value->find("env"));
    const Value* command = value->find("command");
    pipeline.command = texts_of(command);
    if (command != nullptr && command->kind == Value::Kind::scalar) {
      if (const auto words = base::split_words(command->text))
        pipeline.command = *words;
      else
        m_diagnostics.add(command->place, "a quote in the command is never closed");
    }
    if (command != nullptr && (pipeline.command.empty() || base::trim(pipeline.command.front()).empty()))
      m_diagnostics.add(command->place, "the command's first word, the program, is empty");
  }

  static std::string place_in_code(const Value& value) {
    return value.kind == Value::Kind::map ? text_of(value.find("at")) : value.text;
  }

  void read_code_places() {
    for (const Entry& entry : entries_of(m_document.find("points")))
      m_scenario.points.push_back({entry.key, place_in_code(entry.value), text_of(entry.value.find("line")),
                                   text_of(entry.value.find("kind")) == "event", entry.place});
    for (const Entry& entry : entries_of(m_document.find("locks")))
      m_scenario.locks.push_back({entry.key, place_in_code(entry.value), entry.place});
    for (const Entry& entry : entries_of(m_document.find("actors")))
      m_scenario.actors.push_back(actor_rule(entry));
    if (const Value* tokens = m_document.find("tokens"))
      read_tokens(*tokens);
    if (const Value* results = m_document.find("results"))
      read_results(*results);
  }

  static void read_numbers_source(const Value& value, NumbersSource& source) {
    source.at = text_of(value.find("at"));
    source.value = text_of(value.find("value"));
    source.output = text_of(value.find("output"));
    read_integer_into(value.find("number"), source.number_group);
    read_integer_into(value.find("actor"), source.actor_group);
    source.place = value.place;
  }

  void read_results(const Value& value) {
    ResultsSource& results = m_scenario.results.emplace();
    read_numbers_source(value, results);
    if (const Value* tolerance = value.find("tolerance"))
      read_number(*tolerance, results.tolerance);
  }

  void read_tokens(const Value& value) {
    TokensSource& tokens = m_scenario.tokens.emplace();
    read_numbers_source(value, tokens);
    tokens.is_rate = text_of(value.find("is")) == "rate";
  }

  static ActorRule actor_rule(const Entry& entry) {
    ActorRule rule;
    rule.name = entry.key;
    rule.place = entry.place;
    rule.thread = text_of(entry.value.find("thread"));
    rule.entry = text_of(entry.value.find("entry"));
    const Value* process = entry.value.find("process");
    if (std::uint64_t number = 0; process != nullptr && read_integer(*process, number))
      rule.process_number = number;
    else
      rule.process = text_of(process);
    if (const Value* start = entry.value.find("start"))
      read_integer_into(start, rule.start.emplace());
    return rule;
  }

  void read_caches() {
    const Value* caches = m_document.find("caches");
    if (caches != nullptr)
      for (const Value& item : caches->items)
        m_scenario.caches.push_back(plain_cache_state(item.text, item.place));
    for (const Entry& entry : entries_of(caches))
      m_scenario.caches.push_back(read_cache_state(entry));
    if (m_scenario.caches.empty())
      m_scenario.caches.push_back({"cold", CacheKind::cold, {}});
  }

  void read_layouts() {
    for (const Entry& entry : entries_of(m_document.find("layouts"))) {
      Layout layout;
      layout.name = entry.key;
      layout.place = entry.place;
      for (const Entry& role : entry.value.entries) {
        if (role.key == "require")
          read_integer_into(role.value.find("gpus"), layout.required_gpus);
        else
          layout.roles.emplace_back(role.key, gpus_of(role.value));
      }
      m_scenario.layouts.push_back(std::move(layout));
    }
    if (m_scenario.layouts.empty())
      m_scenario.layouts.push_back({"none", {}, 0, {}});
  }

  static std::vector<int> gpus_of(const Value& list) {
    std::vector<int> gpus;
    for (const Value& item : list.items)
      read_integer_into(&item, gpus.emplace_back());
    return gpus;
  }

  void read_interleavings() {
    for (const Entry& entry : entries_of(m_document.find("interleavings")))
      m_scenario.interleavings.push_back(read_interleaving(entry, m_names, m_diagnostics));
    if (m_scenario.interleavings.empty())
      m_scenario.interleavings.emplace_back().name = "free";
  }

  void read_mitigations() {
    for (const Entry& entry : entries_of(m_document.find("mitigations"))) {
      Mitigation mitigation{entry.key, pairs_of(entry.value.find("env")), {}, entry.place};
      for (const Entry& setting : entries_of(entry.value.find("config")))
        mitigation.config.emplace_back(setting.key, json_of(setting.value));
      m_scenario.mitigations.push_back(std::move(mitigation));
    }
    if (m_scenario.mitigations.empty())
      m_scenario.mitigations.push_back({"none", {}, {}, {}});
  }

  void read_matrix() {
    const Value* value = m_document.find("matrix");
    const auto axis = [&](const char* key, std::vector<std::string> fallback) {
      std::vector<std::string> names = texts_of(value == nullptr ? nullptr : value->find(key));
      return names.empty() ? std::move(fallback) : names;
    };
    Matrix& matrix = m_scenario.matrix;
    matrix.toolkits = axis("toolkits", {"current"});
    matrix.caches = axis("caches", names_of(m_scenario.caches));
    matrix.layouts = axis("layouts", names_of(m_scenario.layouts));
    matrix.interleavings = axis("interleavings", names_of(m_scenario.interleavings));
    matrix.mitigations = axis("mitigations", names_of(m_scenario.mitigations));
    if (const Value* exclude = value == nullptr ? nullptr : value->find("exclude"))
      for (const Value& rule : exclude->items)
        matrix.exclude.push_back(read_when(&rule));
  }

  static When read_when(const Value* value) {
    When when;
    if (value == nullptr)
      return when;
    when.cache = texts_of(value->find("cache"));
    when.interleaving = texts_of(value->find("interleaving"));
    when.layout = texts_of(value->find("layout"));
    when.mitigation = texts_of(value->find("mitigation"));
    when.toolkit_name = texts_of(value->find("toolkit"));
    for (const Entry& feature : entries_of(value->find("toolkit")))
      when.features.emplace_back(feature.key, texts_of(&feature.value));
    return when;
  }

  void read_trials() {
    const Value* value = m_document.find("trials");
    if (value == nullptr)
      return;
    if (value->kind == Value::Kind::scalar)
      return read_integer_into(value, m_scenario.trials);
    read_integer_into(value->find("default"), m_scenario.trials);
    const Value* where = value->find("where");
    if (where == nullptr)
      return;
    for (const Value& rule : where->items) {
      m_scenario.trials_where.emplace_back(read_when(rule.find("when")), 0);
      read_integer_into(rule.find("trials"), m_scenario.trials_where.back().second);
    }
  }

  static Frequency frequency(const std::string& word) {
    if (word == "always")
      return Frequency::always;
    if (word == "sometimes")
      return Frequency::sometimes;
    return word == "any" ? Frequency::any : Frequency::never;
  }

  void read_expect() {
    const Value* rules = m_document.find("expect");
    if (rules == nullptr)
      return;
    for (const Value& rule : rules->items) {
      Expectation expectation;
      expectation.place = rule.place;
      expectation.when = read_when(rule.find("when"));
      expectation.status = texts_of(rule.find("status"));
      for (const Entry& fault : entries_of(rule.find("faults")))
        expectation.faults.emplace_back(fault.key, frequency(fault.value.text));
      for (const Entry& bound : entries_of(rule.find("tokens_per_s"))) {
        double at_least = 0;
        if (const Value* value = bound.value.find("at_least"))
          read_number(*value, at_least);
        expectation.tokens_per_s.push_back({bound.key, at_least});
      }
      m_scenario.expect.push_back(std::move(expectation));
    }
  }

  const Value& m_document;
  const NameTables& m_names;
  Scenario& m_scenario;
  Diagnostics& m_diagnostics;
};

} // namespace

void read_scenario(const Value& document, const NameTables& names, Scenario& scenario, Diagnostics& diagnostics) {
  Reader(document, names, scenario, diagnostics).read();
}

} // namespace racelab::scenario

#include "base/error.h"
#include "base/text.h"
#include "result/names.h"
#include "result/result.h"

#include <utility>

#include <fmt/format.h>

namespace racelab::result {

namespace {

// One value of the file and how to name it to the user. `into` leaves its target as it is where the value is missing or
// null (an older format, or a number that does not exist), and throws base::UserError where it has another type. Keys
// that nobody asks for are ignored: a later racelab may have added them.
class Node {
public:
  Node(const Json* value, std::string path, const std::string& file)
      : m_value(value), m_path(std::move(path)), m_file(file) {}

  bool absent() const { return m_value == nullptr || m_value->is_null(); }
  const std::string& path() const { return m_path; }

  Node operator[](const std::string& key) const {
    std::string path = m_path.empty() ? key : m_path + "." + key;
    if (absent())
      return {nullptr, std::move(path), m_file};
    require(m_value->is_object(), "an object");
    const auto member = m_value->find(key);
    return {member == m_value->end() ? nullptr : &*member, std::move(path), m_file};
  }

  template <class Function> void for_each_member(Function&& function) const {
    if (absent())
      return;
    require(m_value->is_object(), "an object");
    for (const auto& [key, value] : m_value->items())
      function(key, Node(&value, m_path + "." + key, m_file));
  }

  template <class Function> void for_each_item(Function&& function) const {
    if (absent())
      return;
    require(m_value->is_array(), "an array");
    for (std::size_t i = 0; i < m_value->size(); ++i)
      function(Node(&(*m_value)[i], fmt::format("{}[{}]", m_path, i), m_file));
  }

  void into(std::string& target) const {
    if (absent())
      return;
    require(m_value->is_string(), "a text");
    target = m_value->get<std::string>();
  }

  void into(bool& target) const {
    if (absent())
      return;
    require(m_value->is_boolean(), "true or false");
    target = m_value->get<bool>();
  }

  void into(double& target) const {
    if (absent())
      return;
    require(m_value->is_number(), "a number");
    target = m_value->get<double>();
  }

  void into(int& target) const { integer_into(target); }
  void into(unsigned& target) const { integer_into(target); }
  void into(std::int64_t& target) const { integer_into(target); }

  template <class T> void into(std::vector<T>& target) const {
    for_each_item([&](const Node& item) { item.into(target.emplace_back()); });
  }

  template <class T> void into(std::map<std::string, T>& target) const {
    for_each_member([&](const std::string& key, const Node& member) { member.into(target[key]); });
  }

  template <class T> void into(std::vector<std::pair<std::string, T>>& target) const {
    for_each_member(
        [&](const std::string& key, const Node& member) { member.into(target.emplace_back(key, T()).second); });
  }

  template <class Enum> void name_into(Enum& target) const {
    if (absent())
      return;
    std::string name;
    into(name);
    const std::optional<Enum> value = from_name<Enum>(name);
    if (!value) {
      std::vector<std::string> known;
      for (const auto& [ignored, its_name] : names_of<Enum>())
        known.emplace_back(its_name);
      fail(fmt::format("must be one of {}, is '{}'", base::join(known, ", "), name));
    }
    target = *value;
  }

  void into(Spread& spread) const;
  void into(Fault& fault) const;
  void into(ActorThroughput& throughput) const;
  void into(Event& event) const;
  void into(TrialResult& trial) const;
  void into(CellResult& cell) const;

  [[noreturn]] void fail(const std::string& problem) const {
    throw base::UserError(base::ExitCode::usage,
                          fmt::format("{}: {} {}", m_file, m_path.empty() ? "the file" : m_path, problem));
  }

private:
  void require(bool holds, const char* wanted) const {
    if (!holds)
      fail(fmt::format("must be {}, is {} {}", wanted, m_value->is_array() || m_value->is_object() ? "an" : "a",
                       m_value->type_name()));
  }

  template <class Integer> void integer_into(Integer& target) const {
    if (absent())
      return;
    require(m_value->is_number_integer(), "an integer");
    const bool fits = m_value->is_number_unsigned() ? std::in_range<Integer>(m_value->get<std::uint64_t>())
                                                    : std::in_range<Integer>(m_value->get<std::int64_t>());
    if (!fits)
      fail("is out of range: " + m_value->dump());
    target = m_value->get<Integer>();
  }

  const Json* m_value;
  std::string m_path;
  const std::string& m_file;
};

void Node::into(Spread& spread) const {
  const Node& node = *this;
  node["median"].into(spread.median);
  node["low"].into(spread.low);
  node["high"].into(spread.high);
  node["n"].into(spread.n);
}

void Node::into(Fault& fault) const {
  const Node& node = *this;
  node["kind"].into(fault.kind);
  node["actor"].into(fault.actor);
  node["event"].into(fault.event);
  node["message"].into(fault.message);
  node["stack"].into(fault.stack);
  node["others"].into(fault.others);
}

void Node::into(ActorThroughput& throughput) const {
  const Node& node = *this;
  node["actor"].into(throughput.actor);
  node["tokens"].into(throughput.tokens);
  node["steady_tokens_per_s"].into(throughput.steady_tokens_per_s);
  node["first_step_s"].into(throughput.first_step_s);
  node["waited_s"].into(throughput.waited_s);
}

void Node::into(Event& event) const {
  const Node& node = *this;
  node["kind"].name_into(event.kind);
  node["time_ns"].into(event.time_ns);
  node["actor"].into(event.actor);
  node["point"].into(event.point);
  node["hit"].into(event.hit);
  node["waited_ns"].into(event.waited_ns);
  node["tokens"].into(event.tokens);
  node["removed"].into(event.removed);
  node["step"].into(event.step);
  node["index"].into(event.index);
}

void Node::into(TrialResult& trial) const {
  const Node& node = *this;
  node["index"].into(trial.index);
  node["schedule_status"].name_into(trial.status);
  node["status_reason"].into(trial.status_reason);
  node["faults"].into(trial.faults);
  node["throughput"].into(trial.throughput);
  node["total_tokens_per_s"].into(trial.total_tokens_per_s);
  node["cache_counters"].into(trial.cache_counters);
  node["cache_outcome"].into(trial.cache_outcome);
  if (!node["cache_mended"].absent())
    node["cache_mended"].into(trial.cache_mended.emplace());
  node["tracer_entries"].into(trial.tracer_entries);
  node["wall_s"].into(trial.wall_s);
  node["overhead_s"].into(trial.overhead_s);
  node["directory"].into(trial.directory);
  node["replay"].into(trial.replay);
  node["schedule"].into(trial.schedule);
}

void read_faults(const Node& node, CellResult& cell) {
  const Node trials = node["fault_trials"], intervals = node["fault_intervals"];
  node["faults"].for_each_member([&](const std::string& kind, const Node& count) {
    Proportion proportion;
    proportion.n = cell.trials;
    count.into(proportion.k);
    trials[kind].into(proportion.n);
    std::vector<double> ends;
    intervals[kind].into(ends);
    if (ends.size() == 2) {
      proportion.low = ends[0];
      proportion.high = ends[1];
    } else if (!intervals[kind].absent()) {
      intervals[kind].fail("must be [low, high]");
    }
    cell.faults.emplace_back(kind, proportion);
  });
}

void read_proof(const Node& node, CacheProof& proof) {
  node["hits"].into(proof.hits);
  node["misses"].into(proof.misses);
  node["entries_before"].into(proof.entries_before);
  node["entries_after"].into(proof.entries_after);
  node["bytes_before"].into(proof.bytes_before);
  node["bytes_after"].into(proof.bytes_after);
  node["proved"].into(proof.proved);
  node["message"].into(proof.message);
}

void read_cell_counts(const Node& node, CellResult& cell) {
  node["controlled"].into(cell.controlled);
  node["trials"].into(cell.trials);
  node["realised"].into(cell.realised);
  node["unreachable"].into(cell.unreachable);
  node["impossible"].into(cell.impossible);
  node["diverged"].into(cell.diverged);
  node["unproved"].into(cell.unproved);
  if (!node["skipped"].absent())
    node["skipped"].into(cell.skipped.emplace());
}

void Node::into(CellResult& cell) const {
  const Node& node = *this;
  node["id"].into(cell.id);
  node["toolkit"].into(cell.toolkit);
  node["cache"].into(cell.cache);
  node["layout"].into(cell.layout);
  node["layout_text"].into(cell.layout_text);
  node["interleaving"].into(cell.interleaving);
  node["mitigation"].into(cell.mitigation);
  read_cell_counts(node, cell);
  read_faults(node, cell);
  node["expected"].into(cell.expected);
  node["verdict"].name_into(cell.verdict);
  node["tokens_per_s"].for_each_member([&](const std::string& actor, const Node& spread) {
    spread.into(actor == "total" ? cell.total_tokens_per_s : cell.tokens_per_s.emplace_back(actor, Spread()).second);
  });
  node["first_step_s"].into(cell.first_step_s);
  read_proof(node["cache_proof"], cell.cache_proof);
  node["cache_changes"].into(cell.cache_changes);
  node["cache_outcomes"].into(cell.cache_outcomes);
  if (!node["cache_mended"].absent())
    node["cache_mended"].into(cell.cache_mended.emplace());
  node["tracer_entries"].into(cell.tracer_entries);
  node["reasons"].into(cell.reasons);
  node["repeat"].into(cell.repeat);
  node["trial_records"].into(cell.trial_results);
}

void read_toolkit(const Node& node, ToolkitInfo& toolkit) {
  node["python"].into(toolkit.python);
  node["torch"].into(toolkit.torch);
  node["torch_git"].into(toolkit.torch_git);
  node["triton"].into(toolkit.triton);
  node["cuda"].into(toolkit.cuda);
  node["executable"].into(toolkit.executable);
  node["features"].into(toolkit.features);
  node["packages_digest"].into(toolkit.packages_digest);
  node["missing_points"].into(toolkit.missing_points);
}

// Refuses a file that is no result, or that a later racelab wrote in a format of which we know nothing.
void check_format(const Node& root, const std::string& file) {
  const Node format = root["racelab"]["result_format"];
  if (format.absent())
    throw base::UserError(base::ExitCode::usage,
                          file +
                              ": not a result of racelab: 'racelab.result_format' is missing (expected a result.json)");
  int number = 0;
  format.into(number);
  if (number < 1)
    format.fail(fmt::format("must be at least 1, is {}", number));
  if (number <= k_result_format)
    return;
  std::string version = "a later version";
  root["racelab"]["version"].into(version);
  throw base::UserError(
      base::ExitCode::usage,
      fmt::format("{}: result format {}, written by racelab {}; this racelab reads formats up to {}: use "
                  "racelab {} or later to read it",
                  file, number, version, k_result_format, version));
}

} // namespace

RunResult from_json(const Json& json, const std::string& file) {
  const Node root(&json, "", file);
  check_format(root, file);
  RunResult run;
  root["racelab"]["version"].into(run.version);
  root["racelab"]["git"].into(run.git);
  root["command"].into(run.command);
  root["started"].into(run.started);
  root["seconds"].into(run.seconds);
  root["scenario"]["name"].into(run.scenario_name);
  root["scenario"]["file"].into(run.scenario_file);
  root["scenario"]["digest"].into(run.scenario_digest);
  root["scenario"]["about"].into(run.scenario_about);
  root["machine"]["cpus"].into(run.machine.cpus);
  root["machine"]["memory_bytes"].into(run.machine.memory_bytes);
  root["machine"]["gpus"].for_each_item([&](const Node& gpu) { gpu["name"].into(run.machine.gpus.emplace_back()); });
  root["machine"]["driver"].into(run.machine.driver);
  root["toolkits"].for_each_member([&](const std::string& name, const Node& toolkit) {
    read_toolkit(toolkit, run.toolkits.emplace_back());
    run.toolkits.back().name = name;
  });
  root["notes"].into(run.notes);
  root["cells"].into(run.cells);
  root["directory"].into(run.directory);
  root["exit"]["code"].into(run.exit_code);
  root["exit"]["meaning"].into(run.exit_meaning);
  return run;
}

} // namespace racelab::result

#include "result/names.h"
#include "result/result.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace racelab::result {

namespace {

// Text that a pipeline printed may be any bytes; JSON holds Unicode only. What is not UTF-8 becomes U+FFFD.
std::string utf8(const std::string& text) {
  const auto is_ascii = [](char c) { return (static_cast<unsigned char>(c) & 0x80) == 0; };
  if (std::all_of(text.begin(), text.end(), is_ascii))
    return text;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(utf8(text));
}

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

// For quantities of which 0 says that there is none.
Json positive_or_null(double value) {
  return std::isfinite(value) && value > 0 ? Json(value) : Json();
}

Json positive_or_null(std::int64_t value) {
  return value > 0 ? Json(value) : Json();
}

Json texts(const std::vector<std::string>& values) {
  Json json = Json::array();
  for (const std::string& value : values)
    json.push_back(utf8(value));
  return json;
}

template <class Map> Json counts(const Map& values) {
  Json json = Json::object();
  for (const auto& [name, count] : values)
    json[utf8(name)] = count;
  return json;
}

template <class Pairs> Json named_texts(const Pairs& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values)
    json[utf8(name)] = utf8(value);
  return json;
}

Json spread_json(const Spread& spread) {
  const bool exists = spread.n > 0;
  return {{"median", exists ? number_or_null(spread.median) : Json()},
          {"low", exists ? number_or_null(spread.low) : Json()},
          {"high", exists ? number_or_null(spread.high) : Json()},
          {"n", spread.n}};
}

void add_spreads(Json& json, const std::vector<std::pair<std::string, Spread>>& spreads) {
  for (const auto& [actor, spread] : spreads)
    json[utf8(actor)] = spread_json(spread);
}

Json fault_json(const Fault& fault) {
  return {{"kind", fault.kind},
          {"actor", text_or_null(fault.actor)},
          {"event", fault.event < 0 ? Json() : Json(fault.event)},
          {"message", utf8(fault.message)},
          {"stack", utf8(fault.stack)},
          {"others", utf8(fault.others)}};
}

Json throughput_json(const ActorThroughput& throughput) {
  return {{"actor", utf8(throughput.actor)},
          {"tokens", throughput.tokens},
          {"steady_tokens_per_s", positive_or_null(throughput.steady_tokens_per_s)},
          {"first_step_s", positive_or_null(throughput.first_step_s)},
          {"waited_s", number_or_null(throughput.waited_s)}};
}

template <class T, class Function> Json array_of(const std::vector<T>& values, Function&& item) {
  Json json = Json::array();
  for (const T& value : values)
    json.push_back(item(value));
  return json;
}

Json trial_json(const TrialResult& trial) {
  return {{"index", trial.index},
          {"schedule_status", to_string(trial.status)},
          {"status_reason", utf8(trial.status_reason)},
          {"faults", array_of(trial.faults, fault_json)},
          {"throughput", array_of(trial.throughput, throughput_json)},
          {"total_tokens_per_s", positive_or_null(trial.total_tokens_per_s)},
          {"cache_counters", counts(trial.cache_counters)},
          {"cache_outcome", text_or_null(trial.cache_outcome)},
          {"cache_mended", trial.cache_mended ? Json(*trial.cache_mended) : Json()},
          {"tracer_entries", counts(trial.tracer_entries)},
          {"wall_s", number_or_null(trial.wall_s)},
          {"overhead_s", number_or_null(trial.overhead_s)},
          {"directory", utf8(trial.directory)},
          {"replay", text_or_null(trial.replay)},
          {"schedule", array_of(trial.schedule, [](const Event& event) { return to_json(event); })}};
}

void add_faults(Json& json, const CellResult& cell) {
  Json seen = Json::object(), of = Json::object(), intervals = Json::object();
  for (const auto& [kind, proportion] : cell.faults) {
    seen[kind] = proportion.k;
    of[kind] = proportion.n;
    intervals[kind] = Json::array({number_or_null(proportion.low), number_or_null(proportion.high)});
  }
  json["faults"] = std::move(seen);
  json["fault_trials"] = std::move(of);
  json["fault_intervals"] = std::move(intervals);
}

Json proof_json(const CacheProof& proof) {
  return {{"hits", proof.hits},
          {"misses", proof.misses},
          {"entries_before", proof.entries_before},
          {"entries_after", proof.entries_after},
          {"bytes_before", proof.bytes_before},
          {"bytes_after", proof.bytes_after},
          {"proved", proof.proved},
          {"message", utf8(proof.message)}};
}

Json cell_json(const CellResult& cell, bool with_trials) {
  Json json = {{"id", cell.id},
               {"toolkit", cell.toolkit},
               {"cache", cell.cache},
               {"layout", cell.layout},
               {"layout_text", utf8(cell.layout_text)},
               {"interleaving", cell.interleaving},
               {"mitigation", cell.mitigation},
               {"controlled", cell.controlled},
               {"trials", cell.trials},
               {"realised", cell.realised},
               {"unreachable", cell.unreachable},
               {"impossible", cell.impossible},
               {"diverged", cell.diverged},
               {"unproved", cell.unproved},
               {"skipped", cell.skipped ? Json(utf8(*cell.skipped)) : Json()}};
  add_faults(json, cell);
  json["expected"] = named_texts(cell.expected);
  json["verdict"] = to_string(cell.verdict);
  json["tokens_per_s"] = {{"total", spread_json(cell.total_tokens_per_s)}};
  add_spreads(json["tokens_per_s"], cell.tokens_per_s);
  json["first_step_s"] = Json::object();
  add_spreads(json["first_step_s"], cell.first_step_s);
  json["cache_proof"] = proof_json(cell.cache_proof);
  json["cache_changes"] = texts(cell.cache_changes);
  json["cache_outcomes"] = counts(cell.cache_outcomes);
  json["cache_mended"] = cell.cache_mended ? Json(*cell.cache_mended) : Json();
  json["tracer_entries"] = counts(cell.tracer_entries);
  json["reasons"] = texts(cell.reasons);
  json["repeat"] = utf8(cell.repeat);
  json["trial_records"] = with_trials ? array_of(cell.trial_results, trial_json) : Json::array();
  return json;
}

Json machine_json(const MachineInfo& machine) {
  Json gpus = Json::array();
  for (const std::string& name : machine.gpus)
    gpus.push_back({{"name", utf8(name)}});
  return {{"cpus", positive_or_null(std::int64_t{machine.cpus})},
          {"memory_bytes", positive_or_null(machine.memory_bytes)},
          {"gpus", std::move(gpus)},
          {"driver", text_or_null(machine.driver)}};
}

Json toolkit_json(const ToolkitInfo& toolkit) {
  return {{"python", text_or_null(toolkit.python)},
          {"torch", text_or_null(toolkit.torch)},
          {"torch_git", text_or_null(toolkit.torch_git)},
          {"triton", text_or_null(toolkit.triton)},
          {"cuda", text_or_null(toolkit.cuda)},
          {"executable", text_or_null(toolkit.executable)},
          {"features", named_texts(toolkit.features)},
          {"packages_digest", text_or_null(toolkit.packages_digest)},
          {"missing_points", named_texts(toolkit.missing_points)}};
}

Json run_json(const RunResult& run, bool with_trials) {
  Json toolkits = Json::object();
  for (const ToolkitInfo& toolkit : run.toolkits)
    toolkits[toolkit.name] = toolkit_json(toolkit);
  return {{"racelab", {{"version", run.version}, {"git", text_or_null(run.git)}, {"result_format", k_result_format}}},
          {"command", texts(run.command)},
          {"started", run.started},
          {"seconds", number_or_null(run.seconds)},
          {"scenario",
           {{"name", utf8(run.scenario_name)},
            {"file", utf8(run.scenario_file)},
            {"digest", run.scenario_digest},
            {"about", utf8(run.scenario_about)}}},
          {"machine", machine_json(run.machine)},
          {"toolkits", std::move(toolkits)},
          {"notes", texts(run.notes)},
          {"cells", array_of(run.cells, [&](const CellResult& cell) { return cell_json(cell, with_trials); })},
          {"directory", utf8(run.directory)},
          {"exit", {{"code", run.exit_code}, {"meaning", utf8(run.exit_meaning)}}}};
}

// An array in the place and with the indentation that dump(1) gives it.
void append_trials(std::string& text, const std::vector<TrialResult>& trials) {
  for (const TrialResult& trial : trials) {
    text += &trial == trials.data() ? "[\n" : ",\n";
    const std::string lines = trial_json(trial).dump(1);
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
      end = lines.find('\n', begin);
      text += "    " + lines.substr(begin, end - begin) + (end == std::string::npos ? "" : "\n");
    }
  }
  text += trials.empty() ? "[]" : "\n   ]";
}

} // namespace

Json to_json(const Event& event) {
  Json json = {{"kind", to_string(event.kind)}, {"time_ns", event.time_ns}, {"actor", utf8(event.actor)}};
  if (!event.point.empty())
    json["point"] = utf8(event.point);
  if (event.hit > 0)
    json["hit"] = event.hit;
  if (event.waited_ns > 0)
    json["waited_ns"] = event.waited_ns;
  if (event.kind == EventKind::tokens)
    json["tokens"] = event.tokens;
  if (event.kind == EventKind::removed)
    json["removed"] = event.removed;
  if (event.step >= 0)
    json["step"] = event.step;
  if (event.index >= 0)
    json["index"] = event.index;
  return json;
}

Json to_json(const RunResult& run) {
  return run_json(run, true);
}

std::string to_text(const RunResult& run) {
  const std::string frame = run_json(run, false).dump(1);
  const std::string_view place = "\n   \"trial_records\": "; // a text in it has no line breaks
  std::string text;
  std::size_t done = 0;
  for (const CellResult& cell : run.cells) {
    const std::size_t at = frame.find(place, done) + place.size();
    text.append(frame, done, at - done);
    append_trials(text, cell.trial_results);
    done = at + 2; // behind the empty array that stands there
  }
  return text.append(frame, done) + "\n";
}

} // namespace racelab::result

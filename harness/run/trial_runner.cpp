#include "run/trial_runner.h"

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "oracle/oracle.h"
#include "run/plan.h"
#include "run/read_record.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace racelab::run {

using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void write_or_throw(const std::string& path, const std::string& text) {
  if (auto written = base::write_file(path, text); !written) {
    throw base::UserError(base::ExitCode::environment, written.error());
  }
}

void make_or_throw(const std::string& path) {
  if (auto made = base::make_folders(path); !made) {
    throw base::UserError(base::ExitCode::environment, made.error());
  }
}

constexpr const char* k_scratch_prefix = "racelab-run-";

// Scratch folders whose racelab is gone: nobody holds their lock.
void remove_abandoned_scratch(const std::string& root) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    if (entry.path().filename().string().rfind(k_scratch_prefix, 0) != 0) {
      continue;
    }
    const base::UniqueFd lock(open((entry.path() / "lock").c_str(), O_RDWR | O_CLOEXEC));
    if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      cache::remove_tree(entry.path().string());
    }
  }
}

bool has_main_points(const scenario::Scenario& scenario) {
  const auto in_main = [](const std::string& at) { return at.rfind("__main__:", 0) == 0; };
  const auto any_in_main = [&](const auto& places) {
    return std::any_of(places.begin(), places.end(), [&](const auto& place) { return in_main(place.at); });
  };
  return any_in_main(scenario.points) || any_in_main(scenario.locks) ||
         (scenario.tokens && in_main(scenario.tokens->at)) || (scenario.results && in_main(scenario.results->at));
}

// nullopt: the numbers do not come from the output.
std::optional<launch::TokenPattern> pattern_of(const auto& source) {
  return source && !source->output.empty()
             ? std::optional(launch::TokenPattern{source->output, source->number_group, source->actor_group})
             : std::nullopt;
}

// Letters of the interpreter options between `python` and the program that a fork of a running interpreter cannot
// honour.
std::string interpreter_options(const CellContext& context) {
  std::string letters;
  for (std::size_t i = 1; i < context.argv.size(); ++i) {
    const std::string& word = context.argv[i];
    if (word.size() < 2 || word[0] != '-' || word == "-m" || word == "-c") {
      break;
    }
    for (const char letter : word.substr(1)) {
      letters += std::string_view("uBsq").find(letter) == std::string_view::npos ? std::string(1, letter) : "";
    }
  }
  return letters;
}

result::TrialResult judge_trial(const result::TrialRecord& record, const schedule::Interleaving& interleaving) {
  result::TrialResult trial;
  trial.index = record.index;
  const auto finding = oracle::schedule_status(record, interleaving);
  trial.status = finding.status;
  trial.status_reason = finding.reason;
  trial.faults = oracle::faults(record);
  trial.throughput = oracle::throughput(record);
  trial.total_tokens_per_s = oracle::total_tokens_per_s(record);
  trial.cache_counters = oracle::counters(record);
  trial.tracer_entries = oracle::tracer_entries(record);
  trial.wall_s = record.wall_s;
  for (std::size_t i = 0; i < record.events.size(); ++i) {
    if (record.events[i].kind == result::EventKind::pass) {
      trial.schedule.push_back(record.events[i]);
      trial.schedule.back().index = static_cast<int>(i);
    }
  }
  return trial;
}

// Rules of `actors` that fitted no thread of any process that ended by itself.
std::set<std::string> unused_actor_rules(const result::TrialRecord& record) {
  std::set<std::string> unused;
  for (const auto& fact : record.facts) {
    if (fact.value("fact", "") == "actor_rule_unused") {
      unused.insert(fact.value("rule", "?"));
    }
  }
  for (const auto& fact : record.facts) {
    if (fact.value("fact", "") == "actor_rule_used") {
      unused.erase(fact.value("rule", "?"));
    }
  }
  return unused;
}

std::vector<std::string> warnings_of(const result::TrialRecord& record) {
  std::vector<std::string> warnings;
  for (const std::string& rule : unused_actor_rules(record)) {
    warnings.push_back("no thread fits the rule actors." + rule);
  }
  for (const auto& [place, message] : oracle::missing_places(record)) {
    warnings.push_back("point " + place + " is not there: " + message);
  }
  for (const auto& fact : record.facts) {
    const std::string kind = fact.value("fact", ""), message = fact.value("message", "");
    if (kind == "mitigation_failed") {
      warnings.push_back("mitigation not applied: " + message);
    } else if (kind == "tokens_unreadable") {
      warnings.push_back("no tokens: " + message);
    } else if (kind == "result_unreadable") {
      warnings.push_back("a result is no number: " + message);
    } else if (kind == "question_missing") {
      warnings.push_back("nested tracing is only seen where it raises: " + message);
    }
  }
  if (record.events_lost > 0 || record.actors_lost > 0) {
    warnings.push_back(fmt::format("the board was full: {} events and {} actors of a trial are not recorded",
                                   record.events_lost, record.actors_lost));
  }
  return warnings;
}

} // namespace

ScratchFolder::ScratchFolder() {
  remove_abandoned_scratch(base::temporary_root());
  m_path = base::temporary_root() + "/" + k_scratch_prefix + "XXXXXX";
  if (mkdtemp(m_path.data()) == nullptr) {
    throw base::UserError(base::ExitCode::environment, base::temporary_root() + ": no temporary folder can be made: " +
                                                           std::strerror(errno) + " (TMPDIR names another place)");
  }
  m_lock = base::UniqueFd(open((m_path + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  flock(m_lock.get(), LOCK_EX | LOCK_NB);
}

ScratchFolder::~ScratchFolder() {
  cache::remove_tree(m_path);
}

TrialRunner::TrialRunner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue)
    : m_scenario(scenario), m_catalogue(catalogue), m_inventory(cache::inventory_for(scenario)) {}

bool TrialRunner::uses_fork_server(const CellContext& context) const {
  return context.python && m_scenario.launch == scenario::LaunchMode::fork_server &&
         interpreter_options(context).empty();
}

launch::ForkServer& TrialRunner::fork_server_for(const CellContext& context) {
  std::string key = context.toolkit.python;
  for (const auto& [name, value] : context.environment) {
    key += "\n" + name + "=" + value;
  }
  auto& server = m_servers[key];
  if (!server) {
    // Its own Inductor cache outlives the run: the compiler probes that it makes at its start are kept there.
    const std::string own_cache = base::cache_folder_or("fork-server/" + context.toolkit.fingerprint, m_scratch.path());
    launch::Environment environment = context.environment;
    environment.emplace_back("TORCHINDUCTOR_CACHE_DIR", own_cache);
    environment.emplace_back("TMPDIR", m_scratch.path());
    server = std::make_unique<launch::ForkServer>(context.toolkit.python, environment,
                                                  m_scratch.path() + "/fork-server.log", m_scratch.path());
  }
  return *server;
}

launch::ProcessStarter& TrialRunner::starter_for(const CellContext& context) {
  if (uses_fork_server(context)) {
    return fork_server_for(context);
  }
  return m_fresh;
}

double TrialRunner::warm_up(const CellContext& context) {
  return uses_fork_server(context) ? fork_server_for(context).ensure_started() : 0;
}

launch::TrialSpec TrialRunner::make_spec(const CellContext& context, const std::string& folder,
                                         const std::string& scratch) const {
  launch::TrialSpec spec;
  spec.argv = context.argv;
  spec.python = context.python;
  const std::string options = context.python ? interpreter_options(context) : "";
  const bool isolated = options.find_first_of("IES") != std::string::npos; // without the agent's folder on its path
  if (context.python && !uses_fork_server(context) && has_main_points(m_scenario) && !isolated) {
    const auto program = std::find_if(spec.argv.begin() + 1, spec.argv.end(), [](const std::string& word) {
      return word.empty() || word[0] != '-' || word == "-m" || word == "-c";
    });
    spec.argv.insert(program, {"-m", "racelab_agent.run_main"});
  }
  spec.environment = context.environment;
  for (const auto& directory : m_inventory.directories) {
    spec.environment.emplace_back(directory.variable, scratch + "/caches/" + directory.name);
  }
  spec.environment.emplace_back("RACELAB_CACHES", scratch + "/caches");
  spec.copies = context.cache.copies;
  make_or_throw(scratch + "/tmp");
  spec.environment.emplace_back("TMPDIR", scratch + "/tmp");
  spec.environment.emplace_back("RACELAB_AGENT_CONFIG", folder + "/agent.json");
  spec.directory = m_scenario.pipeline.directory;
  spec.stdout_file = folder + "/stdout";
  spec.stderr_file = folder + "/stderr";
  spec.stacks_file = folder + "/stacks.txt";
  spec.scratch = m_scratch.path();
  spec.time_limit = m_scenario.time_limit;
  spec.quiet_time = m_scenario.quiet_time;
  spec.tokens = pattern_of(m_scenario.tokens);
  spec.results = pattern_of(m_scenario.results);
  if (spec.tokens) {
    spec.environment.emplace_back("PYTHONUNBUFFERED", "1"); // a line counts when it is printed
  }
  return spec;
}

TrialOutcome TrialRunner::run(const TrialRequest& request) {
  const auto started = Clock::now();
  const CellContext& context = request.context;
  const std::string& folder = request.folder;
  make_or_throw(folder);
  const std::string scratch = m_scratch.path() + "/trial", caches = scratch + "/caches";
  cache::remove_tree(scratch); // of a trial that could not be ended properly
  std::optional<cache::Prepared> prepared(std::in_place, context.cache, request.sources, caches, m_inventory);
  launch::TrialSpec spec = make_spec(context, folder, scratch);
  spec.confinement = prepared->confinement();
  const auto places = places_used(request.interleaving, context.cache, m_scenario, m_catalogue);
  auto config = agent_config(m_scenario, context.mitigation, places, folder + "/facts.jsonl", spec.stacks_file);
  config["hide_foreign_flag"] = request.fills_cache;
  write_or_throw(folder + "/agent.json", config.dump(1));
  board::Board board = board::Board::create(board_plan(request.interleaving, context.cache, places, m_catalogue));

  TrialOutcome outcome;
  outcome.cache_changes = prepared->changes();
  outcome.cache_before = cache::measure(caches);
  launch::ProcessStarter& starter = starter_for(context);
  const auto launched = Clock::now();
  const launch::TrialEnd end = launch::run_trial(starter, spec, board);
  const double launch_s = seconds_since(launched);
  outcome.cache_after = cache::measure(caches);
  outcome.uses_inductor = cache::measure(caches + "/inductor").files > 0;
  auto record = read_record(request.index, board, end, folder + "/facts.jsonl", spec.stacks_file);
  record.token_lines_are_rates = m_scenario.tokens && m_scenario.tokens->is_rate;
  write_or_throw(folder + "/events.jsonl", events_text(record));

  const std::optional<bool> mended = prepared->is_mended();
  judge(request, record, spec, mended, outcome);
  if (request.keep_caches) {
    request.keep_caches(caches);
  }
  prepared.reset();
  cache::remove_tree(scratch);
  outcome.result.overhead_s = seconds_since(started) - launch_s;
  return outcome;
}

// Passes of the events that the scenario's own cache directories count.
void TrialRunner::count_look_ups(const result::TrialRecord& record,
                                 std::map<std::string, std::int64_t>& counters) const {
  for (const auto& directory : m_scenario.cache_directories) {
    for (const std::string& counted : {directory.hit, directory.miss}) {
      if (!counted.empty()) {
        counters[counted] += std::count_if(record.events.begin(), record.events.end(), [&](const result::Event& event) {
          return event.kind == result::EventKind::pass && event.point == counted;
        });
      }
    }
  }
}

// What the oracles say of the record, the output and the cache.
void TrialRunner::judge(const TrialRequest& request, const result::TrialRecord& record, const launch::TrialSpec& spec,
                        std::optional<bool> mended, TrialOutcome& outcome) const {
  outcome.result = judge_trial(record, request.interleaving);
  outcome.result.cache_mended = mended;
  auto& faults = outcome.result.faults;
  const auto add = [&](const std::vector<result::Fault>& more) {
    faults.insert(faults.end(), more.begin(), more.end());
  };
  const std::string log = base::read_file(spec.stderr_file).value_or("");
  if (!m_scenario.output_faults.empty()) {
    add(oracle::output_faults(base::read_file(spec.stdout_file).value_or("") + "\n" + log, m_scenario.output_faults));
  }
  outcome.results = record.results;
  const scenario::CacheState& state = request.context.cache;
  if (m_scenario.results && request.sources.own) {
    add(oracle::wrong_results(record.results, request.sources.own->results, m_scenario.results->tolerance,
                              state.copies));
  }
  outcome.end = record.end.kind;
  outcome.end_message = record.end.message;
  outcome.warnings = warnings_of(record);
  const bool ended = record.end.kind == result::EndKind::exited;
  if (ended && spec.tokens && record.token_lines.empty()) {
    outcome.warnings.push_back("no tokens: no line of the output matches tokens.output with a number in group " +
                               std::to_string(spec.tokens->number_group));
  }
  if (ended && m_scenario.results && record.results.empty()) {
    outcome.warnings.push_back(request.context.cell.id + ": no results to compare with a serial run's");
  }
  count_look_ups(record, outcome.result.cache_counters);
  auto look_ups = cache::look_ups(outcome.result.cache_counters, m_inventory);
  look_ups.told = record.end.kind == result::EndKind::exited || !outcome.result.cache_counters.empty();
  look_ups.counted_by_events = m_inventory.counted_by_events;
  look_ups.counted = m_inventory.counted_by_events || outcome.uses_inductor;
  cache::InTrial in_trial{0, static_cast<int>(record.attached)};
  for (const result::Event& event : record.events) {
    in_trial.removed += event.removed;
  }
  const auto proof = cache::prove(state, look_ups, outcome.cache_before, outcome.cache_after, in_trial);
  if (state.is_special() && proof.proved) {
    outcome.result.cache_outcome =
        oracle::cache_outcome(outcome.result, look_ups.misses > 0 || mended.value_or(false), log);
  }
  outcome.state_proved = proof.proved;
  outcome.state_message = proof.message;
}

} // namespace racelab::run

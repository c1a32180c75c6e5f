#include "run/runner.h"

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "launch/interrupt.h"
#include "oracle/oracle.h"
#include "racelab_version.h"
#include "report/progress.h"
#include "run/plan.h"
#include "run/summary.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace racelab::run {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;
using Clock = std::chrono::steady_clock;

namespace {

std::string utc_now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

layout::Devices devices_for(const RunOptions& options, const toolkit::Toolkit& toolkit) {
  return options.devices ? *options.devices : layout::devices_of(static_cast<int>(toolkit.gpus.size()));
}

result::ToolkitInfo describe(const toolkit::Toolkit& t) {
  return {t.name, t.python_version, t.torch,    t.torch_git,       t.triton,
          t.cuda, t.python,         t.features, t.packages_digest, t.missing_points};
}

result::MachineInfo describe_machine(const toolkit::Toolkit& toolkit) {
  result::MachineInfo machine;
  machine.cpus = static_cast<int>(std::thread::hardware_concurrency());
  machine.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  machine.gpus = toolkit.gpus;
  machine.driver = toolkit.driver;
  return machine;
}

bool has_schedule(const result::CellResult& cell) {
  return std::any_of(cell.trial_results.begin(), cell.trial_results.end(),
                     [](const auto& t) { return !t.schedule.empty(); });
}

// A folder of its own for every run, also for two racelabs in the same second.
std::string make_run_folder(const std::string& wanted, const std::string& scenario) {
  const std::string base = wanted.empty()
                               ? fs::absolute("reports/runs/" + utc_now("%Y%m%d-%H%M%S") + "-" + scenario).string()
                               : fs::absolute(wanted).string();
  if (!wanted.empty()) {
    if (fs::exists(base + "/result.json")) {
      throw UserError(ExitCode::usage, base + " holds the result of another run; name another folder with --output");
    }
    if (auto made = base::make_folders(base); !made) {
      throw UserError(ExitCode::environment, made.error());
    }
    return base;
  }
  if (auto made = base::make_folders(fs::path(base).parent_path().string()); !made) {
    throw UserError(ExitCode::environment, made.error() + " (--output names another place)");
  }
  for (int n = 1; n < 1000; ++n) {
    const std::string folder = n == 1 ? base : base + "-" + std::to_string(n);
    std::error_code error;
    if (fs::create_directory(folder, error)) {
      return folder;
    }
    if (error) {
      throw UserError(ExitCode::environment,
                      folder + ": cannot be made: " + error.message() + " (--output names another place)");
    }
  }
  throw UserError(ExitCode::environment, base + ": no free name for the run's folder");
}

} // namespace

std::vector<CellContext> plan_cells(const scenario::Scenario& scenario, const RunOptions& options,
                                    toolkit::ToolkitSource& toolkits) {
  std::map<std::string, scenario::Features> features;
  for (const std::string& name : scenario.matrix.toolkits) {
    features[name] = toolkits.get(name).features;
  }
  auto cells = scenario::expand(scenario, features);
  if (!options.pattern.empty()) {
    const auto all = cells;
    cells = scenario::filter(all, options.pattern);
    if (cells.empty()) {
      std::vector<std::string> ids;
      for (const auto& cell : all) {
        ids.push_back(cell.id);
      }
      throw UserError(ExitCode::nothing_ran, "-k " + options.pattern + " matches no cell" +
                                                 base::did_you_mean(options.pattern, ids) + "; there are " +
                                                 base::join(ids, ", "));
    }
  }
  std::vector<CellContext> contexts;
  for (scenario::Cell& cell : cells) {
    cell.trials = options.trials.value_or(cell.trials);
    const toolkit::Toolkit toolkit = toolkits.get(cell.toolkit);
    contexts.push_back(resolve_cell(scenario, cell, toolkit, devices_for(options, toolkit)));
  }
  return contexts;
}

Runner::Runner(const scenario::Scenario& scenario, const schedule::Catalogue& catalogue, RunOptions options,
               toolkit::ToolkitSource& toolkits, report::ProgressReporter& progress)
    : m_scenario(scenario), m_catalogue(catalogue_for(catalogue, scenario)), m_options(std::move(options)),
      m_toolkits(toolkits), m_progress(progress), m_trials(scenario, m_catalogue) {}

std::string Runner::trial_folder(int number) const {
  return fmt::format("trials/{:03}", number);
}

void Runner::write_result() {
  if (auto written = base::write_file(m_result.directory + "/result.json", result::to_json(m_result).dump(1) + "\n");
      !written) {
    throw UserError(ExitCode::environment, written.error());
  }
}

result::RunResult Runner::run() {
  const auto started = Clock::now();
  const std::vector<CellContext> cells = plan_cells(m_scenario, m_options, m_toolkits);
  m_result.version = RACELAB_VERSION;
  m_result.git = RACELAB_GIT_REVISION;
  m_result.command = m_options.command;
  m_result.started = utc_now("%Y-%m-%dT%H:%M:%SZ");
  m_result.scenario_name = m_scenario.name;
  m_result.scenario_file = m_scenario.file;
  m_result.scenario_digest = m_scenario.digest;
  m_result.scenario_about = m_scenario.about;
  std::set<std::string> told;
  for (const CellContext& context : cells) {
    if (told.insert(context.toolkit.name).second) {
      m_result.toolkits.push_back(describe(context.toolkit));
    }
  }
  m_result.machine = describe_machine(cells.front().toolkit);
  m_result.directory = make_run_folder(m_options.output, m_scenario.name);

  int total = 0;
  for (const CellContext& context : cells) {
    total += context.cell.trials;
  }
  m_progress.begin(total);
  try {
    for (const CellContext& context : cells) {
      run_cell(context);
      m_result.seconds = seconds_since(started);
      write_result();
      const auto verdict = m_result.cells.back().verdict;
      if (m_interrupted || (m_options.fail_fast && verdict == result::Verdict::failed)) {
        break;
      }
    }
  } catch (const UserError& error) {
    m_progress.end();
    if (error.code() != ExitCode::interrupted) {
      throw;
    }
    m_interrupted = true;
  }
  m_progress.end();
  conclude(seconds_since(started));
  write_result();
  return m_result;
}

void Runner::run_cell(const CellContext& context) {
  result::CellResult cell = new_cell(context, m_options.repeat_base);
  const auto expectation = scenario::expectation_of(m_scenario, context.cell, context.toolkit.features);
  note_expectation(expectation, cell);
  if (context.placement.skip) {
    cell.skipped = *context.placement.skip;
  } else {
    const double server_s = m_trials.warm_up(context);
    if (server_s > 0) {
      m_result.notes.push_back(fmt::format("fork server of {} ready in {:.1f} s", context.toolkit.name, server_s));
      m_progress.note(m_result.notes.back());
    }
    const auto snapshot = cache::needs_snapshot(context.cache) ? snapshot_for(context) : std::nullopt;
    if (!m_interrupted) {
      m_interrupted = !run_trials(context, cell, snapshot);
    }
    summarise(cell);
    add_slow_faults(expectation, cell);
  }
  oracle::judge(cell, expectation);
  if (cell.trials > 0 || cell.skipped) {
    m_result.cells.push_back(std::move(cell));
  }
}

// False if the user interrupted.
bool Runner::run_trials(const CellContext& context, result::CellResult& cell,
                        const std::optional<cache::SnapshotStore::Snapshot>& snapshot) {
  for (int i = 1; i <= context.cell.trials; ++i) {
    m_progress.trial_started(context.cell.id, i);
    const std::string folder = trial_folder(m_next_trial++);
    TrialOutcome outcome = m_trials.run(context, context.interleaving, i, m_result.directory + "/" + folder, snapshot);
    if (outcome.end == result::EndKind::interrupted) {
      return false;
    }
    if (outcome.end == result::EndKind::not_started && i == 1) {
      throw UserError(ExitCode::environment, "the pipeline does not start: " + outcome.end_message);
    }
    outcome.result.directory = folder;
    note_cache(outcome, i == 1, cell);
    m_progress.trial_done(report::trial_done_of(context.cell.id, context.cell.trials, outcome.result));
    if (outcome.result.faults.empty() || has_schedule(cell)) {
      outcome.result.schedule.clear(); // one view per cell is enough; events.jsonl has them all
    }
    cell.trial_results.push_back(std::move(outcome.result));
    if (launch::interrupts() > 0) {
      return false;
    }
  }
  return true;
}

std::optional<cache::SnapshotStore::Snapshot> Runner::snapshot_for(const CellContext& context) {
  cache::SnapshotStore store(base::cache_home() + "/snapshots");
  const std::string key = snapshot_key(context, m_scenario.pipeline.directory);
  auto snapshot = store.find(key);
  const bool kept = snapshot.has_value();
  if (!kept) {
    m_progress.note("filling the warm cache with a serial run");
    CellContext cold = context;
    cold.cache = {"cold", scenario::CacheKind::cold, {}};
    schedule::Interleaving serial;
    serial.kind = schedule::InterleavingKind::serialize;
    serial.regions = {"compiled_call"};
    const std::string folder = m_result.directory + "/" + trial_folder(m_next_trial++);
    const auto outcome = m_trials.run(cold, serial, 0, folder, std::nullopt, [&](const std::string& filled) {
      snapshot = store.publish(key, filled, 0, m_scenario.name + " " + context.cell.id);
    });
    if (outcome.end == result::EndKind::interrupted) {
      m_interrupted = true;
      return std::nullopt;
    }
    if (!outcome.result.faults.empty()) {
      const auto& fault = outcome.result.faults.front();
      throw UserError(ExitCode::environment, "the warm cache cannot be filled: the serial run itself fails (" +
                                                 fault.kind + (fault.actor.empty() ? "" : " in " + fault.actor) + ": " +
                                                 fault.message.substr(0, 300) + "); its files are in " + folder);
    }
    m_result.notes.push_back(fmt::format(
        "warm snapshot {}…: {} files, {}, filled serially in {:.1f} s", key.substr(0, 4), snapshot->size.files,
        base::format_bytes(static_cast<unsigned long long>(snapshot->size.bytes)), outcome.result.wall_s));
    m_progress.note(m_result.notes.back());
  } else if (m_told_snapshots.insert(key).second) {
    m_result.notes.push_back(fmt::format("warm snapshot {}…: {} files, {}, kept from an earlier run", key.substr(0, 4),
                                         snapshot->size.files,
                                         base::format_bytes(static_cast<unsigned long long>(snapshot->size.bytes))));
    m_progress.note(m_result.notes.back());
  }
  m_told_snapshots.insert(key);
  return snapshot;
}

void Runner::conclude(double seconds) {
  m_result.seconds = seconds;
  const ExitCode code = exit_code_of(m_result, m_interrupted);
  m_result.exit_code = static_cast<int>(code);
  m_result.exit_meaning = meaning_of(code);
}

} // namespace racelab::run

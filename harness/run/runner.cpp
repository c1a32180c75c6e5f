#include "run/runner.h"

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"
#include "cache/mounts.h"
#include "launch/interrupt.h"
#include "oracle/oracle.h"
#include "racelab_version.h"
#include "report/progress.h"
#include "run/plan.h"
#include "run/run_folder.h"
#include "run/summary.h"
#include "run/warm_cache.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

namespace racelab::run {

using base::ExitCode;
using base::UserError;
using Clock = std::chrono::steady_clock;

namespace {

// Writing result.json is not free where trials take milliseconds.
constexpr std::chrono::seconds k_save_interval{2};

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

std::string Runner::next_trial_folder() {
  return fmt::format("trials/{:03}", m_next_trial++);
}

void Runner::note(const std::string& text) {
  if (std::find(m_result.notes.begin(), m_result.notes.end(), text) == m_result.notes.end()) {
    m_result.notes.push_back(text);
    m_progress.note(text);
  }
}

void Runner::save() {
  m_result.seconds = m_seconds_before + seconds_since(m_started);
  write_result(m_result);
  m_saved = Clock::now();
}

void Runner::begin(const std::vector<CellContext>& cells) {
  if (m_options.resume) {
    m_folder_lock = lock_run_folder(m_options.output);
    m_result = take_up_run(m_options.output, m_scenario);
    m_seconds_before = m_result.seconds;
  } else {
    m_result.directory = make_run_folder(m_options.output, m_scenario.name);
    m_folder_lock = lock_run_folder(m_result.directory);
    m_result.started = base::iso_time(std::time(nullptr));
  }
  m_next_trial = next_trial_number(m_result.directory);
  m_result.version = RACELAB_VERSION;
  m_result.git = RACELAB_GIT_REVISION;
  if (!m_options.resume) {
    m_result.command = m_options.command;
  }
  m_result.scenario_name = m_scenario.name;
  m_result.scenario_file = m_scenario.file;
  m_result.scenario_digest = m_scenario.digest;
  m_result.scenario_about = m_scenario.about;
  m_result.machine = describe_machine(cells.front().toolkit);
  m_result.toolkits.clear();
  std::set<std::string> told;
  for (const CellContext& context : cells) {
    if (told.insert(context.toolkit.name).second) {
      m_result.toolkits.push_back(describe(context.toolkit));
    }
  }
  m_result.exit_code = static_cast<int>(ExitCode::interrupted); // until it is finished
  m_result.exit_meaning = "not finished";
  save();
}

result::RunResult Runner::run() {
  m_started = Clock::now();
  const std::vector<CellContext> cells = plan_cells(m_scenario, m_options, m_toolkits);
  begin(cells);
  int total = 0;
  for (const CellContext& context : cells) {
    total += context.cell.trials;
  }
  for (const result::CellResult& cell : m_result.cells) { // of a run that is resumed
    total -= static_cast<int>(cell.trial_results.size());
  }
  m_progress.begin(std::max(total, 0));
  for (const CellContext& context : cells) {
    if (context.toolkit.torch.empty()) {
      note("toolkit " + context.toolkit.name + " has no torch: " + context.toolkit.error);
    }
  }
  try {
    run_cells(cells);
  } catch (const UserError& error) {
    m_interrupted = m_interrupted || error.code() == ExitCode::interrupted;
    m_problem = error.what();
    m_problem_code = error.code();
  }
  m_progress.end();
  m_result.seconds = m_seconds_before + seconds_since(m_started);
  const ExitCode code = !m_interrupted && !m_problem.empty() ? m_problem_code : exit_code_of(m_result, m_interrupted);
  m_result.exit_code = static_cast<int>(code);
  m_result.exit_meaning = meaning_of(code);
  try {
    save();
  } catch (const UserError& error) {
    m_problem = m_problem.empty() ? error.what() : m_problem;
    m_result.exit_code = static_cast<int>(error.code());
    m_result.exit_meaning = meaning_of(error.code());
  }
  return m_result;
}

void Runner::run_cells(const std::vector<CellContext>& cells) {
  // Before the first fork server: what it forks sees only mounts of a namespace that it was started in. Where the
  // system does not allow one, the state is made without mounts, and says so.
  if (std::any_of(cells.begin(), cells.end(), [](const CellContext& c) { return c.cache.needs_mounts(); })) {
    static_cast<void>(cache::enter_private_mounts());
  }
  for (const CellContext& context : cells) {
    const std::size_t at = find_or_add_cell(context);
    if (context.skip) {
      m_result.cells[at].skipped = *context.skip;
    } else if (static_cast<int>(m_result.cells[at].trial_results.size()) < context.cell.trials) {
      run_cell(context);
    }
    settle(context, m_result.cells[at]);
    if (m_result.cells[at].trials == 0 && !m_result.cells[at].skipped && m_result.cells[at].cache_proof.proved) {
      m_result.cells.erase(m_result.cells.begin() +
                           static_cast<std::ptrdiff_t>(at)); // interrupted before its first trial
    }
    save();
    if (m_interrupted || (m_options.fail_fast && m_result.cells.back().verdict == result::Verdict::failed)) {
      return;
    }
  }
}

// The cell's place in the result: where a resumed run left it, or a new one at the end.
std::size_t Runner::find_or_add_cell(const CellContext& context) {
  for (std::size_t i = 0; i < m_result.cells.size(); ++i) {
    if (m_result.cells[i].id == context.cell.id) {
      m_result.cells[i].skipped.reset();
      return i;
    }
  }
  m_result.cells.push_back(new_cell(context, m_options.repeat_base, toolkit_option(context.cell.toolkit)));
  note_expectation(scenario::expectation_of(m_scenario, context.cell, context.toolkit.features), m_result.cells.back());
  return m_result.cells.size() - 1;
}

std::string Runner::toolkit_option(const std::string& toolkit) const {
  const auto given = m_options.toolkit_options.find(toolkit);
  return given == m_options.toolkit_options.end() ? std::string() : given->second;
}

void Runner::settle(const CellContext& context, result::CellResult& cell) {
  const auto expectation = scenario::expectation_of(m_scenario, context.cell, context.toolkit.features);
  summarise(cell);
  add_slow_faults(expectation, cell);
  oracle::judge(cell, expectation);
}

void Runner::run_cell(const CellContext& context) {
  const double server_s = m_trials.warm_up(context);
  if (server_s > 0) {
    note(fmt::format("fork server of {} ready in {:.1f} s", context.toolkit.name, server_s));
  }
  try {
    const cache::Sources sources = sources_for(context);
    if (!m_interrupted) {
      run_trials(context, sources);
    }
  } catch (const cache::StateImpossible& problem) {
    auto& proof = m_result.cells[find_or_add_cell(context)].cache_proof;
    proof.proved = false;
    proof.message = std::string("it cannot be had: ") + problem.what();
  }
}

// What the cell's cache state is made from; with `results`, also the serial run that they are compared with.
cache::Sources Runner::sources_for(const CellContext& context) {
  cache::Sources sources;
  if (cache::needs_snapshot(context.cache) || m_scenario.results) {
    sources.own = snapshot_for(context);
  }
  if (cache::needs_foreign(context.cache) && !m_interrupted) {
    sources.foreign = snapshot_for(foreign_context(context));
  }
  return sources;
}

// The same cell with the toolkit that fills its cache.
CellContext Runner::foreign_context(const CellContext& context) {
  std::string name = context.cache.filled_by.empty() ? context.cache.forge_by : context.cache.filled_by;
  if (name == "*") {
    for (const std::string& other : m_toolkits.names()) {
      if (const auto toolkit = m_toolkits.get(other);
          !toolkit.torch.empty() && toolkit.torch != context.toolkit.torch) {
        name = other;
        break;
      }
    }
  }
  if (name == "*") {
    throw cache::StateImpossible("no toolkit with another torch than " + context.toolkit.torch +
                                 " is installed (ci/setup --toolkit NAME)");
  }
  toolkit::Toolkit toolkit;
  try {
    toolkit = m_toolkits.get(name);
  } catch (const UserError& error) {
    throw cache::StateImpossible(error.what());
  }
  if (toolkit.torch == context.toolkit.torch) {
    throw cache::StateImpossible("the toolkit " + name + " has the same torch as the cell's: " + toolkit.torch);
  }
  return resolve_cell(m_scenario, context.cell, toolkit, devices_for(m_options, toolkit));
}

// A trial whose process could not be run, through no fault of the pipeline, is no trial: it is said and run once more.
TrialOutcome Runner::run_one(const CellContext& context, int index, const cache::Sources& sources,
                             std::string& folder) {
  for (int attempt = 1;; ++attempt) {
    folder = next_trial_folder();
    TrialOutcome outcome = m_trials.run({.context = context,
                                         .interleaving = context.interleaving,
                                         .index = index,
                                         .folder = m_result.directory + "/" + folder,
                                         .sources = sources});
    if (outcome.end != result::EndKind::not_started) {
      return outcome;
    }
    if (attempt == 2) {
      throw UserError(ExitCode::environment,
                      "cell " + context.cell.id + ": the pipeline does not start: " + outcome.end_message);
    }
    note(fmt::format("{} did not run and does not count: {}", folder, outcome.end_message));
  }
}

void Runner::run_trials(const CellContext& context, const cache::Sources& sources) {
  result::CellResult& cell = m_result.cells[find_or_add_cell(context)];
  for (int i = static_cast<int>(cell.trial_results.size()) + 1; i <= context.cell.trials && !m_interrupted; ++i) {
    m_progress.trial_started(context.cell.id, i);
    std::string folder;
    TrialOutcome outcome = run_one(context, i, sources, folder);
    if (outcome.end == result::EndKind::interrupted) {
      m_interrupted = true;
      return;
    }
    outcome.result.directory = folder;
    note_cache(outcome, i == 1, cell);
    for (const std::string& warning : outcome.warnings) {
      note(warning);
    }
    m_progress.trial_done(report::trial_done_of(context.cell.id, context.cell.trials, outcome.result));
    if (outcome.result.faults.empty() || has_schedule(cell)) {
      std::vector<result::Event>().swap(outcome.result.schedule); // one view per cell is enough; the rest is in files
    }
    cell.trial_results.push_back(std::move(outcome.result));
    if (Clock::now() - m_saved > k_save_interval) {
      settle(context, cell);
      save();
    }
    m_interrupted = launch::interrupts() > 0;
  }
}

std::optional<cache::SnapshotStore::Snapshot> Runner::snapshot_for(const CellContext& context) {
  const auto warm =
      warm_cache_for(m_trials, context, m_scenario, m_result.directory + "/trials/fill-" + std::to_string(m_next_trial),
                     [&] { m_progress.note("filling the warm cache with a serial run"); });
  if (warm.interrupted) {
    m_interrupted = true;
    return std::nullopt;
  }
  if (warm.filled_now || !m_filled_snapshots.count(warm.snapshot.key)) {
    note(warm.note);
  }
  m_filled_snapshots.insert(warm.snapshot.key);
  return warm.snapshot;
}

} // namespace racelab::run

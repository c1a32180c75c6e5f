// racelab run
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"
#include "base/paths.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "launch/interrupt.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/progress.h"
#include "report/terminal.h"
#include "run/explain.h"
#include "run/run_folder.h"
#include "run/runner.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <unistd.h>

namespace racelab::cli {

namespace {

struct RunArguments {
  std::string scenario, output, json, junit, markdown, pattern, devices, progress = "auto", color = "auto";
  std::vector<std::string> sets, toolkits;
  std::optional<int> trials, seed;
  bool resume = false, fail_fast = false, dry_run = false, quiet = false;
};

void declare(Options& options, RunArguments& a) {
  options.positional("SCENARIO", a.scenario, "A scenario file, or the name of one that ships (not with --resume)",
                     false);
  options.option("-k", a.pattern, "PATTERN", "Only cells whose id matches (a glob, or a part of the id)");
  options.option("--trials", a.trials, "N", "Trials of each cell, instead of the scenario's", 1, 100000);
  options.repeated("--set", a.sets, "PATH=VALUE",
                   "Change a key of the scenario: cache=cold, launch=fresh, pipeline.env.X=1");
  options.repeated("--toolkit", a.toolkits, "NAME|[NAME=]PATH",
                   "Toolkit to run on, instead of the scenario's: a name, or a Python; may be repeated");
  options.option("--devices", a.devices, "LIST", "Devices to use: cpu, or cuda:0,cuda:1");
  options.option("--seed", a.seed, "N", "Seed of the scenario's random choices", 0, 2147483647);
  options.option("--output", a.output, "DIR", "Where the run's files go (default: reports/runs/TIME-SCENARIO)");
  options.flag("--resume", a.resume, "Finish the run in --output DIR with the options it had");
  options.option("--json", a.json, "FILE", "Also write result.json there; '-' is stdout");
  options.option("--junit", a.junit, "FILE", "Write JUnit XML; '-' is stdout");
  options.option("--markdown", a.markdown, "FILE", "Write Markdown; '-' is stdout");
  options.flag("--fail-fast", a.fail_fast, "Stop after the first cell that failed");
  options.flag("--dry-run", a.dry_run, "Say what would run, and run nothing");
  options.choice("--progress", a.progress, {"auto", "bar", "plain", "none"}, "How to show progress (on stderr)");
  options.choice("--color", a.color, {"auto", "always", "never"}, "Colours");
  options.flag("-q,--quiet", a.quiet, "Print only the last line");
}

layout::Devices parse_devices(const std::string& text) {
  layout::Devices devices;
  devices.names = base::split(text, ',');
  const bool cpu = devices.names == std::vector<std::string>{"cpu"};
  const bool gpus = std::all_of(devices.names.begin(), devices.names.end(), [](const std::string& name) {
    return name.rfind("cuda:", 0) == 0 && name.size() > 5 &&
           name.find_first_not_of("0123456789", 5) == std::string::npos;
  });
  if (!cpu && !gpus) {
    throw base::UserError(base::ExitCode::usage,
                          "--devices " + text + ": expected 'cpu' or a list like 'cuda:0,cuda:1'");
  }
  return devices;
}

// What has to be typed to run a part of this again.
std::string repeat_base(const RunArguments& a) {
  // The launcher of a checkout says how it was called.
  std::string text = base::environment_value("RACELAB_COMMAND", "racelab") + " run " + a.scenario;
  for (const std::string& set : a.sets) {
    text += " --set '" + set + "'";
  }
  return a.devices.empty() ? text : text + " --devices " + a.devices;
}

std::unique_ptr<report::ProgressReporter> progress_for(const RunArguments& a) {
  report::ProgressOptions options;
  options.out = &std::cerr;
  options.dumb_terminal = base::environment_value("TERM", "dumb") == "dumb";
  options.width = [] { return style_for(2, "never").width; };
  const bool terminal = isatty(2) == 1;
  const std::string kind = a.quiet ? "none" : a.progress != "auto" ? a.progress : terminal ? "bar" : "plain";
  return report::make_progress(kind == "bar"     ? report::ProgressKind::bar
                               : kind == "plain" ? report::ProgressKind::plain
                                                 : report::ProgressKind::none,
                               options);
}

void write_reports(const RunArguments& a, const result::RunResult& result) {
  const bool stdout_taken = a.json == "-" || a.junit == "-" || a.markdown == "-";
  const report::Style style = style_for(stdout_taken ? 2 : 1, a.color);
  (stdout_taken ? std::cerr : std::cout) << (a.quiet ? report::render_footer(result, style)
                                                     : report::render_terminal(result, style))
                                         << std::flush;
  if (!a.json.empty()) {
    write_output(a.json, result::to_json(result).dump(1) + "\n");
  }
  if (!a.junit.empty()) {
    write_output(a.junit, report::render_junit(result));
  }
  if (!a.markdown.empty()) {
    write_output(a.markdown, report::render_markdown(result));
  }
}

// What decides which trials a run has: the same for a run and for what finishes it.
std::vector<std::string> choices_of(const RunArguments& a) {
  std::vector<std::string> choices{a.pattern, a.devices, a.trials ? std::to_string(*a.trials) : "",
                                   a.seed ? std::to_string(*a.seed) : ""};
  for (const auto& list : {a.sets, a.toolkits}) {
    choices.push_back(base::join(list, "\n"));
  }
  return choices;
}

// --resume: the scenario and the options that choose trials are those of the unfinished run; given again they must be
// equal.
void take_up_arguments(RunArguments& a) {
  if (a.output.empty()) {
    throw base::UserError(base::ExitCode::usage, "--resume needs --output DIR, the folder of the run to finish");
  }
  const std::vector<std::string> words = run::read_unfinished(a.output).command;
  RunArguments before;
  Options options("run SCENARIO [options]", "");
  declare(options, before);
  if (words.size() < 3 || !options.parse({words.begin() + 2, words.end()})) {
    throw base::UserError(base::ExitCode::usage, "--resume: " + a.output + " does not say how its run was started");
  }
  if ((!a.scenario.empty() && a.scenario != before.scenario) ||
      (choices_of(a) != choices_of(RunArguments()) && choices_of(a) != choices_of(before))) {
    throw base::UserError(base::ExitCode::usage,
                          "--resume: that run was started with other options: " + base::join(words, " "));
  }
  a.scenario = before.scenario;
  a.pattern = before.pattern;
  a.devices = before.devices;
  a.sets = before.sets;
  a.toolkits = before.toolkits;
  a.trials = before.trials;
  a.seed = before.seed;
}

void check_outputs(const RunArguments& a) {
  const std::string* files[] = {&a.json, &a.junit, &a.markdown};
  int on_stdout = 0;
  for (const std::string* file : files) {
    on_stdout += *file == "-" ? 1 : 0;
    if (file->empty() || *file == "-") {
      continue;
    }
    if (access(std::filesystem::absolute(*file).parent_path().c_str(), W_OK) != 0) {
      throw base::UserError(base::ExitCode::usage, *file + ": cannot be written: " + std::strerror(errno));
    }
  }
  if (on_stdout > 1) {
    throw base::UserError(base::ExitCode::usage, "only one of --json, --junit and --markdown can go to stdout ('-')");
  }
}

} // namespace

int run_verb(const std::vector<std::string>& arguments) {
  RunArguments a;
  Options options("run SCENARIO [options]", "Runs the cells of a scenario and says what holds.",
                  "Exit codes: racelab help exit-codes\n"
                  "Example: racelab run scenarios/cold_cache_3drafters.yaml -k cold --trials 10");
  declare(options, a);
  if (!options.parse(arguments)) {
    return 0;
  }
  check_outputs(a);
  if (a.resume) {
    take_up_arguments(a);
  } else if (a.scenario.empty()) {
    throw base::UserError(base::ExitCode::usage, "run: name a scenario (racelab list scenarios)");
  }
  toolkit::InstalledToolkits toolkits;
  std::vector<std::string> sets = a.sets, names;
  std::map<std::string, std::string> toolkit_options;
  for (const std::string& toolkit : a.toolkits) {
    names.push_back(toolkits.add(toolkit));
    toolkit_options[names.back()] = " --toolkit " + toolkit;
  }
  if (!names.empty()) {
    sets.push_back("matrix.toolkits=[\"" + base::join(names, "\",\"") + "\"]");
  }
  const auto catalogue = load_catalogue();
  scenario::Scenario scenario = load_scenario(a.scenario, sets, catalogue);
  if (a.seed) {
    scenario.seed = static_cast<std::uint64_t>(*a.seed);
  }
  run::RunOptions run_options;
  run_options.output = a.output;
  run_options.resume = a.resume;
  run_options.pattern = a.pattern;
  run_options.trials = a.trials;
  run_options.fail_fast = a.fail_fast;
  run_options.command = arguments;
  run_options.command.insert(run_options.command.begin(), {"racelab", "run"});
  run_options.repeat_base = repeat_base(a);
  run_options.toolkit_options = toolkit_options;
  if (!a.devices.empty()) {
    run_options.devices = parse_devices(a.devices);
  }
  if (a.dry_run) {
    std::cout << run::explain(scenario, catalogue, run::plan_cells(scenario, run_options, toolkits));
    return 0;
  }
  launch::install_interrupt_handlers();
  const auto progress = progress_for(a);
  run::Runner runner(scenario, catalogue, run_options, toolkits, *progress);
  const result::RunResult result = runner.run();
  write_reports(a, result);
  if (!runner.problem().empty()) {
    std::cerr << "racelab: " << runner.problem() << "\n";
  }
  if (runner.is_unfinished()) {
    std::cerr << "finish it with: " << base::environment_value("RACELAB_COMMAND", "racelab")
              << " run --resume --output " << result.directory << "\n";
  }
  return result.exit_code;
}

} // namespace racelab::cli

#include "run/cell_context.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <unistd.h>

extern char** environ;

namespace racelab::run {

namespace fs = std::filesystem;

namespace {

// Variables that a trial inherits; "X*" stands for every name that begins so. Everything else is left out, so that a
// trial does not depend on the shell that started it; a scenario's `env` adds what its pipeline needs.
const std::vector<std::string>& inherited_variables() {
  static const std::vector<std::string> names{"PATH",
                                              "HOME",
                                              "USER",
                                              "LOGNAME",
                                              "SHELL",
                                              "LANG",
                                              "LC_*",
                                              "TZ",
                                              "LD_LIBRARY_PATH",
                                              "LIBRARY_PATH",
                                              "CPATH",
                                              "CC",
                                              "CXX",
                                              "CUDA_HOME",
                                              "CUDA_PATH",
                                              "CUDA_VISIBLE_DEVICES",
                                              "CUDA_DEVICE_ORDER",
                                              "NVIDIA_*",
                                              "NCCL_*",
                                              "TORCH_SYMM_MEM_DISABLE_MULTICAST",
                                              "NVSHMEM_*",
                                              "OPENBLAS_*",
                                              "MKL_*",
                                              "OMP_*",
                                              "SSL_CERT_FILE",
                                              "SSL_CERT_DIR"};
  return names;
}

constexpr int k_max_program_files = 500;

void set(base::Environment& environment, const std::string& name, const std::string& value) {
  const auto at = std::find_if(environment.begin(), environment.end(), [&](const auto& v) { return v.first == name; });
  if (at != environment.end()) {
    at->second = value;
  } else {
    environment.emplace_back(name, value);
  }
}

std::string find_program(const std::string& name, const std::string& directory, const base::Environment& environment) {
  if (name.find('/') != std::string::npos) {
    const std::string path = (fs::path(directory) / name).lexically_normal().string();
    if (access(path.c_str(), X_OK) != 0 || fs::is_directory(path)) {
      throw base::UserError(base::ExitCode::usage, "pipeline.command: " + path + " is not a program that can be run");
    }
    return path;
  }
  for (const auto& [variable, value] : environment) {
    if (variable != "PATH") {
      continue;
    }
    for (const std::string& folder : base::split(value, ':')) {
      const std::string path = folder + "/" + name;
      if (access(path.c_str(), X_OK) == 0 && !fs::is_directory(path)) {
        return path;
      }
    }
  }
  throw base::UserError(base::ExitCode::usage, "pipeline.command: no program '" + name + "' in PATH");
}

// Contents of the program's own files: the program itself where it is native, and Python files in the folder of the
// script that the command names.
std::string program_digest(const CellContext& context, const std::string& directory) {
  std::string text = context.python ? "" : base::digest(base::read_file(context.argv.front()).value_or(""));
  for (const std::string& word : context.argv) {
    const fs::path path = fs::path(directory) / word;
    std::error_code error;
    if (word.size() < 4 || word.substr(word.size() - 3) != ".py" || !fs::is_regular_file(path, error)) {
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path.parent_path(), error)) {
      if (entry.path().extension() == ".py" && static_cast<int>(files.size()) < k_max_program_files) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      text += file.filename().string() + base::digest(base::read_file(file.string()).value_or(""));
    }
  }
  return base::digest(text);
}

// The file that the interpreter would run must be there: that is no fault of the pipeline.
void check_script(const std::vector<std::string>& argv, const std::string& directory) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (argv[i] == "--check-hash-based-pycs") {
      ++i; // its value
      continue;
    }
    if (!argv[i].empty() && argv[i][0] == '-') {
      const std::size_t with_value =
          argv[i].compare(0, 2, "--") == 0 ? std::string::npos : argv[i].find_first_of("mcWX");
      if (with_value != std::string::npos && argv[i].find_first_of("mc") == with_value) {
        return; // a module or a text instead of a file
      }
      i += with_value + 1 == argv[i].size() ? 1 : 0; // its value is the next word: -W ignore, -X dev
      continue;
    }
    if (std::error_code error; !fs::exists(fs::path(directory) / argv[i], error)) {
      throw base::UserError(base::ExitCode::usage,
                            "pipeline.command: there is no file " + argv[i] + " in " + directory);
    }
    return;
  }
}

// sys.monitoring, which points on lines need, came with Python 3.12.
std::optional<std::string> lacks_lines(const scenario::Scenario& scenario, const schedule::Interleaving& interleaving,
                                       const toolkit::Toolkit& toolkit) {
  int major = 0, minor = 0;
  if (std::sscanf(toolkit.python_version.c_str(), "%d.%d", &major, &minor) != 2 ||
      std::pair(major, minor) >= std::pair(3, 12)) {
    return std::nullopt;
  }
  for (const auto& point : scenario.points) {
    const auto is_it = [&](const auto& event) { return event.point == point.name; };
    const bool used = std::any_of(interleaving.events.begin(), interleaving.events.end(), is_it) ||
                      std::find(scenario.record.begin(), scenario.record.end(), point.name) != scenario.record.end();
    if (!point.line.empty() && used) {
      return "the point " + point.name + " is on a line (" + point.line +
             "), which needs Python 3.12 or later; toolkit " + toolkit.name + " has " + toolkit.python_version +
             " (a point on a function, `at`, needs no more)";
    }
  }
  return std::nullopt;
}

} // namespace

base::Environment clean_environment() {
  base::Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto& allowed = inherited_variables();
    if (equals != std::string::npos &&
        std::any_of(allowed.begin(), allowed.end(), [&](const std::string& p) { return base::glob_match(p, name); })) {
      environment.emplace_back(name, text.substr(equals + 1));
    }
  }
  const std::string own = base::environment_value("PYTHONPATH");
  set(environment, "PYTHONPATH", base::agent_folder() + (own.empty() ? "" : ":" + own));
  return environment;
}

CellContext resolve_cell(const scenario::Scenario& scenario, const scenario::Cell& cell,
                         const toolkit::Toolkit& toolkit, const layout::Devices& devices) {
  CellContext context;
  context.cell = cell;
  context.toolkit = toolkit;
  context.cache = scenario::find_cache(scenario, cell.cache);
  context.mitigation = scenario::find_mitigation(scenario, cell.mitigation);
  context.interleaving = scenario::find_interleaving(scenario, cell.interleaving);
  context.placement = layout::place(scenario::find_layout(scenario, cell.layout), devices);
  context.skip = context.placement.skip ? context.placement.skip : lacks_lines(scenario, context.interleaving, toolkit);
  context.environment = clean_environment();
  const auto fill = [&](const std::string& text) {
    return layout::fill_placeholders(text, context.placement, scenario.directory);
  };
  for (const auto& [role, names] : context.placement.roles) {
    std::string variable = "RACELAB_LAYOUT_" + role;
    std::transform(variable.begin(), variable.end(), variable.begin(), [](unsigned char c) { return std::toupper(c); });
    set(context.environment, variable, base::join(names, ","));
  }
  for (const auto& variables : {scenario.pipeline.env, context.mitigation.env}) {
    for (const auto& [name, value] : variables) {
      set(context.environment, name, fill(value));
    }
  }
  for (const std::string& word : scenario.pipeline.command) {
    context.argv.push_back(fill(word));
  }
  context.python = context.argv.front() == "python" || context.argv.front() == "python3";
  if (std::error_code error; !fs::is_directory(scenario.pipeline.directory, error)) {
    throw base::UserError(base::ExitCode::usage, "pipeline.cwd: there is no folder " + scenario.pipeline.directory);
  }
  if (context.python) {
    check_script(context.argv, scenario.pipeline.directory);
  }
  if (context.python) {
    context.argv.front() = toolkit.python;
  } else { // what a native program takes from its toolkit, it finds by its interpreter
    context.argv.front() = find_program(context.argv.front(), scenario.pipeline.directory, context.environment);
    set(context.environment, "RACELAB_TOOLKIT_PYTHON", toolkit.python);
  }
  return context;
}

std::string snapshot_key(const CellContext& context, const std::string& working_directory) {
  std::string text = context.toolkit.fingerprint + "|" + context.placement.text;
  for (const std::string& word : context.argv) {
    text += "|" + word;
  }
  for (const auto& [name, value] : context.environment) {
    text += "|" + name + "=" + value;
  }
  for (const auto& [name, value] : context.mitigation.config) {
    text += "|" + name + "=" + value.dump();
  }
  return base::digest(text + program_digest(context, working_directory));
}

} // namespace racelab::run

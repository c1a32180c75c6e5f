#include "cli/common.h"

#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "cache/caches.h"
#include "cache/damage.h"
#include "cache/layers.h"
#include "oracle/oracle.h"

#include <filesystem>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace racelab::cli {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;

schedule::Catalogue load_catalogue() {
  const std::string file = base::agent_folder() + "/racelab_agent/catalogue.json";
  const auto text = base::read_file(file);
  if (!text) {
    throw UserError(ExitCode::internal, text.error());
  }
  auto catalogue = schedule::Catalogue::parse(*text);
  if (!catalogue) {
    throw UserError(ExitCode::internal, file + ": " + catalogue.error());
  }
  return std::move(*catalogue);
}

scenario::Vocabulary vocabulary_of(const schedule::Catalogue& catalogue) {
  scenario::Vocabulary vocabulary;
  for (const auto& place : catalogue.places()) {
    for (const std::string& event : schedule::events_of(place)) {
      vocabulary.points.push_back(event);
    }
    (place.kind == schedule::PlaceKind::lock ? vocabulary.locks : vocabulary.regions).push_back(place.name);
  }
  for (const auto& kind : oracle::fault_kinds()) {
    vocabulary.fault_kinds.push_back(kind.name);
  }
  for (const auto& layer : cache::layers()) {
    vocabulary.cache_layers.push_back(layer.name);
  }
  for (const auto& directory : cache::directories()) {
    vocabulary.cache_directories.emplace_back(directory.name, directory.variable);
  }
  for (const auto& kind : cache::damage_kinds()) {
    vocabulary.damage_kinds.push_back(kind.name);
  }
  // What the agent's probe finds (racelab_agent/probe.py).
  vocabulary.features = {{"fx_flag", {"global", "thread_local"}},    {"nested_check", {"raises", "masked", "none"}},
                         {"is_compiling_leak", {"true", "false"}},   {"config_scope", {"process", "thread"}},
                         {"dead_thread_guard", {"crashes", "safe"}}, {"gpu", {"true", "false"}}};
  return vocabulary;
}

std::vector<std::string> scenario_folders() {
  std::vector<std::string> folders{"scenarios"};
  const fs::path program = base::program_folder();
  for (const fs::path& folder : {program / "../share/racelab/scenarios", program / "../../../scenarios"}) {
    std::error_code error;
    if (fs::is_directory(folder, error)) {
      folders.push_back(fs::canonical(folder).string());
    }
  }
  return folders;
}

namespace {

std::string find_scenario(const std::string& file) {
  std::error_code error;
  if (fs::exists(file, error) || file.find('/') != std::string::npos) {
    return file;
  }
  std::vector<std::string> known;
  for (const std::string& folder : scenario_folders()) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string stem = entry.path().stem().string();
      if (entry.path().extension() == ".yaml" && (stem == file || entry.path().filename() == file)) {
        return entry.path().string();
      }
      known.push_back(stem);
    }
  }
  throw UserError(ExitCode::usage,
                  "no scenario '" + file + "'" + base::did_you_mean(file, known) + " (racelab list scenarios)");
}

} // namespace

scenario::Scenario load_scenario(const std::string& name, const std::vector<std::string>& sets,
                                 const schedule::Catalogue& catalogue) {
  const std::string file = find_scenario(name);
  constexpr std::size_t k_no_scenario = std::size_t{64} << 20U; // the parser has its own, smaller bound
  const auto text = base::read_file(file, k_no_scenario);
  if (!text) {
    throw UserError(ExitCode::usage, text.error());
  }
  std::vector<scenario::Override> overrides;
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UserError(ExitCode::usage, "--set " + set + ": expected PATH=VALUE, such as trials=5");
    }
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
  }
  auto scenario = scenario::parse_scenario(*text, file, fs::absolute(file).parent_path().lexically_normal().string(),
                                           vocabulary_of(catalogue), overrides);
  if (!scenario) {
    throw UserError(scenario.error());
  }
  return std::move(*scenario);
}

report::Style style_for(int fd, const std::string& color) {
  report::Style style;
  const bool terminal = isatty(fd) == 1;
  winsize size{};
  if (terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = size.ws_col;
  }
  const bool dumb = base::environment_value("TERM") == "dumb";
  style.color =
      color == "always" || (color == "auto" && terminal && !dumb && base::environment_value("NO_COLOR").empty());
  return style;
}

void write_output(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text << std::flush;
    return;
  }
  if (auto written = base::write_named_file(file, text); !written) {
    throw UserError(ExitCode::environment, written.error());
  }
}

} // namespace racelab::cli

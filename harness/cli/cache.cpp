// racelab cache
#include "cli/cache_text.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"
#include "base/paths.h"
#include "base/subprocess.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

namespace racelab::cli {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;

namespace {

constexpr const char* k_folders =
    "A folder is a TORCHINDUCTOR_CACHE_DIR, a TRITON_CACHE_DIR, a CUDA_CACHE_PATH, or one that holds several.";

cache::KeptCaches kept_caches() {
  const std::string home = base::cache_home();
  return {home + "/kept", home + "/snapshots"};
}

// Options that all who look into caches have.
struct LookOptions {
  std::string json, color = "auto";
  std::vector<std::string> toolkits;
  bool no_toolkit = false;
  cache::InstalledTorches installed; // so far looked at

  void add_to(Options& options) {
    options.option("--json", json, "FILE|-", "Write what was found as JSON, to stdout for -");
    options.repeated("--toolkit", toolkits, "TOOLKIT",
                     "A toolkit, or a folder with one, that may have written the cache");
    options.flag("--no-toolkit", no_toolkit, "Do not look at the toolkits that the files name");
    options.choice("--color", color, {"auto", "always", "never"}, "Colours");
  }
};

// The site-packages with torch of an environment's folder, its interpreter, or itself.
std::vector<std::string> site_packages_of(const fs::path& given) {
  std::error_code error;
  if (fs::exists(given / "torch/version.py", error)) {
    return {given.string()};
  }
  std::vector<std::string> found;
  const fs::path environment = fs::is_directory(given, error) ? given : given.parent_path().parent_path();
  for (const auto& entry : fs::directory_iterator(environment / "lib", error)) {
    if (entry.path().filename().string().starts_with("python3") &&
        fs::exists(entry.path() / "site-packages/torch/version.py", error)) {
      found.push_back((entry.path() / "site-packages").string());
    }
  }
  return found;
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const std::string& folder : {base::environment_value("RACELAB_TOOLKITS"), base::cache_home() + "/toolkits"}) {
    if (!folder.empty()) {
      folders.push_back(folder);
    }
  }
  return folders;
}

// Where a torch that wrote a cache may be: those that the user names, then racelab's own.
std::vector<std::string> candidates_of(const LookOptions& look) {
  std::vector<std::string> candidates;
  const auto add = [&](const fs::path& folder) {
    const auto found = site_packages_of(folder);
    candidates.insert(candidates.end(), found.begin(), found.end());
    return !found.empty();
  };
  for (const std::string& given : look.toolkits) {
    bool found = add(given);
    for (const std::string& folder : toolkit_folders()) {
      found = found || add(fs::path(folder) / given);
    }
    if (!found) {
      throw UserError(ExitCode::usage, "--toolkit " + given + ": no torch is installed there");
    }
  }
  for (const std::string& folder : toolkit_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      add(entry.path());
    }
  }
  return candidates;
}

LookedAt look_at(const std::string& name, const std::string& folder, LookOptions& look) {
  auto inspection = cache::inspect(folder);
  if (!inspection) {
    std::error_code ignored; // a plain file may be denied to whoever would enter it, too
    const bool denied =
        fs::is_directory(folder, ignored) && access(folder.c_str(), R_OK | X_OK) != 0 && errno == EACCES;
    throw UserError(denied ? ExitCode::environment : ExitCode::usage, inspection.error());
  }
  LookedAt cache{name, std::move(*inspection), {}, {}, {}};
  cache.writers = cache::writers_of(cache.inspection);
  if (!look.no_toolkit) {
    cache::look_at_environments(cache.writers, candidates_of(look), look.installed);
  }
  return cache;
}

// A folder, or else a snapshot's name.
LookedAt look_at(const std::string& given, LookOptions& look) {
  std::error_code error;
  if (fs::exists(given, error)) {
    return look_at(given, given, look);
  }
  const cache::KeptCaches store = kept_caches();
  if (const auto kept = given.find('/') == std::string::npos ? store.find(given) : std::nullopt) {
    LookedAt cache = look_at(given, kept->content, look);
    cache.manifest = cache::compare_with_manifest(*kept, kept->content);
    cache.copy_of = kept->from + (kept->made.empty() ? "" : ", " + kept->made);
    return cache;
  }
  std::vector<std::string> names;
  for (const auto& kept : store.all()) {
    names.push_back(kept.name);
  }
  throw UserError(ExitCode::usage, "there is neither a folder nor a snapshot " + given +
                                       base::did_you_mean(given, names) + " (racelab cache list)");
}

// torch/_inductor/runtime/cache_dir_utils.py, default_cache_dir; Triton's and the driver's documentation.
std::vector<std::string> users_caches() {
  const std::string home = base::environment_value("HOME", "/root");
  std::string user;
  for (const char* name : {"LOGNAME", "USER", "LNAME", "USERNAME"}) {
    user = user.empty() ? base::environment_value(name) : user;
  }
  user = user.empty() ? "root" : user;
  std::replace_if(
      user.begin(), user.end(), [](char c) { return std::strchr("\\/:*?\"<>|", c) != nullptr; }, '_');
  const std::string triton_home = base::environment_value("TRITON_HOME", home);
  return {base::environment_value("TORCHINDUCTOR_CACHE_DIR", base::temporary_root() + "/torchinductor_" + user),
          base::environment_value("TRITON_CACHE_DIR", triton_home + "/.triton/cache"),
          base::environment_value("CUDA_CACHE_PATH", home + "/.nv/ComputeCache")};
}

// The one that was named, or those of the user that are there.
std::vector<LookedAt> look_at_all(const std::string& given, LookOptions& look, std::ostream& text) {
  if (!given.empty()) {
    std::vector<LookedAt> one;
    one.push_back(look_at(given, look));
    return one;
  }
  std::vector<LookedAt> caches;
  for (const std::string& folder : users_caches()) {
    std::error_code error;
    if (fs::exists(folder, error)) {
      caches.push_back(look_at(folder, look));
    } else {
      text << folder << "\n  there is none\n";
    }
  }
  return caches;
}

// People read stderr where stdout is for a machine.
std::ostream& text_stream(const LookOptions& look) {
  return look.json == "-" ? std::cerr : std::cout;
}

report::Style text_style(const LookOptions& look) {
  return style_for(look.json == "-" ? 2 : 1, look.color);
}

void write_json(const LookOptions& look, const nlohmann::ordered_json& json) {
  if (!look.json.empty()) { // names of files need not be UTF-8
    write_output(look.json, json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
}

nlohmann::ordered_json json_of(const std::vector<LookedAt>& caches) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LookedAt& cache : caches) {
    list.push_back(to_json(cache));
  }
  return {{"racelab_cache", 1}, {"caches", std::move(list)}};
}

// Looks at the one that was named, or at those of the user, and writes what is to be said of each.
std::vector<LookedAt> tell_all(const std::string& given, LookOptions& look,
                               std::string (*render)(const LookedAt&, const report::Style&)) {
  std::ostream& text = text_stream(look);
  auto caches = look_at_all(given, look, text);
  for (std::size_t i = 0; i < caches.size(); ++i) {
    text << (i == 0 ? "" : "\n") << render(caches[i], text_style(look));
  }
  write_json(look, json_of(caches));
  return caches;
}

int show(const std::vector<std::string>& arguments) {
  std::string given;
  LookOptions look;
  Options options("cache show [CACHE] [options]",
                  std::string("Says what is in a cache: layers, entries, sizes, from when, by whom it was written as "
                              "far as its files tell, and what is damaged. ") +
                      k_folders,
                  "Without CACHE: those of this user, as torch, Triton and the driver would find them.");
  options.positional("CACHE", given, "A folder, or a snapshot's name", false);
  look.add_to(options);
  if (!options.parse(arguments)) {
    return 0;
  }
  tell_all(given, look, render_show);
  return 0;
}

int diff(const std::vector<std::string>& arguments) {
  std::string before, after;
  bool all_files = false;
  LookOptions look;
  Options options("cache diff BEFORE AFTER [options]",
                  std::string("Says what AFTER has more, less and other than BEFORE, and by whom each was written. ") +
                      k_folders);
  options.positional("BEFORE", before, "A folder, or a snapshot's name");
  options.positional("AFTER", after, "A folder, or a snapshot's name");
  options.flag("--files", all_files, "List every file that differs, not only the first ones");
  look.add_to(options);
  if (!options.parse(arguments)) {
    return 0;
  }
  const LookedAt old = look_at(before, look), now = look_at(after, look);
  const auto difference = cache::compare(old.inspection, now.inspection);
  text_stream(look) << render_diff(old, now, difference, all_files, text_style(look));
  write_json(look, to_json(old, now, difference));
  return 0;
}

int verify(const std::vector<std::string>& arguments) {
  std::string given;
  LookOptions look;
  look.no_toolkit = true;
  Options options("cache verify [CACHE] [options]",
                  std::string("Lists what is damaged in a cache, and says what cannot be checked. Exit code 1 if "
                              "anything is damaged, 0 if all that can be checked is whole. ") +
                      k_folders,
                  "Without CACHE: those of this user.");
  options.positional("CACHE", given, "A folder, or a snapshot's name, which is also compared with its manifest", false);
  options.option("--json", look.json, "FILE|-", "Write what was found as JSON, to stdout for -");
  options.choice("--color", look.color, {"auto", "always", "never"}, "Colours");
  if (!options.parse(arguments)) {
    return 0;
  }
  const auto caches = tell_all(given, look, render_verify);
  const bool whole = std::all_of(caches.begin(), caches.end(), is_whole);
  return static_cast<int>(whole ? ExitCode::ok : ExitCode::expectation_failed);
}

int snapshot(const std::vector<std::string>& arguments) {
  std::string folder, name;
  Options options(
      "cache snapshot FOLDER NAME",
      std::string("Keeps a copy of a cache, with sizes, modes and digests of all its files, in racelab's store. ") +
          k_folders);
  options.positional("FOLDER", folder, "The cache to copy; it may be in use");
  options.positional("NAME", name, "What to call the copy");
  if (!options.parse(arguments)) {
    return 0;
  }
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UserError(ExitCode::usage, folder + ": is no folder");
  }
  if (!cache::is_cache(folder)) {
    throw UserError(ExitCode::usage, folder + ": is no compile cache that racelab knows");
  }
  const auto kept = kept_caches().keep(folder, name);
  std::cout << fmt::format("{}: {} files, {}, from {}\n", kept.name, kept.files,
                           base::format_bytes(static_cast<unsigned long long>(kept.bytes)),
                           report::printable(kept.from));
  return 0;
}

int restore(const std::vector<std::string>& arguments) {
  std::string name, folder;
  bool replace = false;
  Options options("cache restore NAME FOLDER [options]",
                  "Makes FOLDER a copy of a snapshot. FOLDER is never half of one: the copy is made beside it, "
                  "compared with the manifest, and takes its place in one step.");
  options.positional("NAME", name, "A snapshot's name");
  options.positional("FOLDER", folder, "Where to: a new folder, or an empty one");
  options.flag("--replace", replace, "Also a folder that is not empty; what is in it is lost");
  if (!options.parse(arguments)) {
    return 0;
  }
  const cache::KeptCaches store = kept_caches();
  const auto kept = store.find(name);
  if (!kept) {
    throw UserError(ExitCode::usage, "there is no snapshot " + name + " (racelab cache list)");
  }
  store.restore(*kept, folder, replace);
  std::cout << fmt::format("{}: {} files, {}, of {}\n", folder, kept->files,
                           base::format_bytes(static_cast<unsigned long long>(kept->bytes)), kept->name);
  return 0;
}

int list(const std::vector<std::string>& arguments) {
  std::string color = "auto";
  Options options("cache list", "Lists the snapshots: the user's own, and those that were filled for scenarios.");
  options.choice("--color", color, {"auto", "always", "never"}, "Colours");
  if (!options.parse(arguments)) {
    return 0;
  }
  std::cout << render_list(kept_caches().all(), style_for(1, color));
  return 0;
}

const std::vector<Verb>& parts() {
  static const std::vector<Verb> all{
      {"show", "what is in a cache, and by whom it was written", show},
      {"diff", "what a cache has more, less and other than another one", diff},
      {"verify", "what is damaged; exit code 1 if anything is", verify},
      {"snapshot", "keep a copy of a cache", snapshot},
      {"restore", "bring a copy back", restore},
      {"list", "the snapshots that there are", list},
  };
  return all;
}

void print_help() {
  std::cout << "Looks at compile caches, and keeps copies of them.\nUsage: racelab cache PART [options]\n\n";
  for (const Verb& part : parts()) {
    std::cout << fmt::format("  {:<10} {}\n", part.name, part.about);
  }
  std::cout << "\nracelab cache PART --help says more.\n";
}

} // namespace

int cache_verb(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    print_help();
    return arguments.empty() ? static_cast<int>(ExitCode::usage) : 0;
  }
  return run_named(parts(), arguments, "cache " + arguments[0] + ": there is no such part", "racelab cache --help");
}

} // namespace racelab::cli

#include "run/run_folder.h"

#include "base/error.h"
#include "base/files.h"
#include "result/read_run.h"

#include <cerrno>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace racelab::run {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;

namespace {

constexpr const char* k_remedy = " (--output names another place)";

// The folder "trials" in it is the claim: of two racelabs that are given one folder, one makes it.
std::string make_named_folder(const std::string& folder) {
  if (auto made = base::make_folders(folder); !made) {
    throw UserError(ExitCode::environment, made.error() + k_remedy);
  }
  std::error_code error;
  if (!fs::create_directory(folder + "/trials", error)) {
    if (error) {
      throw UserError(ExitCode::environment, folder + ": cannot be written: " + error.message() + k_remedy);
    }
    throw UserError(ExitCode::usage, folder +
                                         " holds another run; name another folder with --output, or finish that run "
                                         "with --resume");
  }
  return folder;
}

// "20261130-020816".
std::string compact_utc_now() {
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::time(nullptr)));
}

} // namespace

std::string make_run_folder(const std::string& wanted, const std::string& scenario) {
  if (!wanted.empty()) {
    return make_named_folder(fs::absolute(wanted).lexically_normal().string());
  }
  const std::string base = fs::absolute("reports/runs/" + compact_utc_now() + "-" + scenario).string();
  if (auto made = base::make_folders(fs::path(base).parent_path().string()); !made) {
    throw UserError(ExitCode::environment, made.error() + k_remedy);
  }
  for (int n = 1; n < 1000; ++n) {
    const std::string folder = n == 1 ? base : base + "-" + std::to_string(n);
    std::error_code error;
    if (fs::create_directory(folder, error)) {
      return folder;
    }
    if (error) {
      throw UserError(ExitCode::environment, folder + ": cannot be made: " + error.message() + k_remedy);
    }
  }
  throw UserError(ExitCode::environment, base + ": no free name for the run's folder");
}

result::RunResult read_unfinished(const std::string& wanted) {
  const std::string folder = fs::absolute(wanted).lexically_normal().string();
  auto run = result::read_run(folder + "/result.json");
  if (!run) {
    throw UserError(ExitCode::usage, "--resume: " + run.error() + " (the folder of an unfinished run is needed)");
  }
  run->directory = folder;
  return std::move(*run);
}

result::RunResult take_up_run(const std::string& folder, const scenario::Scenario& scenario) {
  result::RunResult run = read_unfinished(folder);
  if (run.scenario_digest != scenario.digest) {
    throw UserError(ExitCode::usage, "--resume: " + run.directory +
                                         " is a run of another scenario file, or the file has changed (" +
                                         run.scenario_file + ")");
  }
  return run;
}

base::UniqueFd lock_run_folder(const std::string& folder) {
  base::UniqueFd lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw UserError(ExitCode::usage,
                    folder + ": another racelab is at work in it; wait for it, or name another folder with --output");
  }
  return lock;
}

int next_trial_number(const std::string& folder) {
  for (int n = 1;; ++n) {
    std::error_code error;
    if (!fs::exists(folder + fmt::format("/trials/{:03}", n), error)) {
      return n;
    }
  }
}

void write_result(const result::RunResult& result) {
  if (auto written = base::write_file(result.directory + "/result.json", result::to_text(result)); !written) {
    throw UserError(ExitCode::environment, written.error());
  }
}

} // namespace racelab::run

#include "support.h"

#include "base/files.h"
#include "launch/starters.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace racelab::launch::test {

namespace fs = std::filesystem;

std::string contents(const std::string& file) {
  return base::read_file(file).value_or("");
}

int number_in(const std::string& file) {
  const std::string text = contents(file); // ends with a newline once it is whole
  return text.empty() || text.back() != '\n' ? 0 : std::atoi(text.c_str());
}

bool is_gone(int pid) {
  return kill(pid, 0) != 0 && errno == ESRCH;
}

TrialSpec spec_of(const Folder& folder, std::vector<std::string> argv) {
  TrialSpec spec;
  spec.argv = std::move(argv);
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.directory = folder.path();
  spec.stdout_file = folder / "stdout";
  spec.stderr_file = folder / "stderr";
  spec.stacks_file = folder / "stacks";
  spec.time_limit = std::chrono::seconds(40);
  spec.quiet_time = std::chrono::milliseconds(100);
  spec.hang_time = std::chrono::seconds(40);
  return spec;
}

TrialSpec shell(const Folder& folder, const std::string& script) {
  return spec_of(folder, {"/bin/sh", "-c", script});
}

TrialSpec program(const Folder& folder, const std::string& name) {
  return spec_of(folder, {fs::read_symlink("/proc/self/exe").string(), "--program", name});
}

TrialEnd run(const TrialSpec& spec) {
  board::Board board = board::Board::create({});
  return run(spec, board);
}

TrialEnd run(const TrialSpec& spec, board::Board& board) {
  FreshStarter starter;
  return run_trial(starter, spec, board);
}

} // namespace racelab::launch::test

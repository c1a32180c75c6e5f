#include "base/paths.h"

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"

#include <filesystem>

#include <unistd.h>

namespace racelab::base {

namespace fs = std::filesystem;

std::string program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string agent_folder() {
  const fs::path program = program_folder();
  const fs::path tried[] = {environment_value("RACELAB_AGENT_DIR"), program / "../agent",
                            program / "../lib/racelab/agent"};
  for (const fs::path& folder : tried) {
    std::error_code error;
    if (!folder.empty() && fs::exists(folder / "libracelab_agent.so", error)) {
      return fs::canonical(folder).string();
    }
  }
  throw UserError(ExitCode::internal, "racelab's agent (libracelab_agent.so) is neither in " + tried[1].string() +
                                          " nor in " + tried[2].string() + "; set RACELAB_AGENT_DIR");
}

std::string cache_home() {
  const std::string xdg = environment_value("XDG_CACHE_HOME");
  return (xdg.empty() ? environment_value("HOME", "/tmp") + "/.cache" : xdg) + "/racelab";
}

std::string cache_folder_or(const std::string& name, const std::string& fallback) {
  for (const std::string& root : {cache_home(), fallback}) {
    const std::string folder = root + "/" + name;
    if (make_folders(folder) && access(folder.c_str(), W_OK) == 0) {
      return folder;
    }
  }
  throw UserError(ExitCode::environment, "neither " + cache_home() + " nor " + fallback + " can be written");
}

std::string temporary_root() {
  return environment_value("TMPDIR", "/tmp");
}

} // namespace racelab::base

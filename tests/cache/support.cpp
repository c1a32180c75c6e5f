#include "support.h"

#include "base/files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::cache::test {

namespace fs = std::filesystem;

void put(const std::string& file, const std::string& text) {
  fs::create_directories(fs::path(file).parent_path());
  if (!base::write_file(file, text))
    throw std::runtime_error(file + " cannot be written");
}

std::string contents(const std::string& file) {
  return base::read_file(file).value_or("(cannot be read)");
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
}

std::vector<std::string> listing(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    names.push_back(entry.path().lexically_relative(folder).string() +
                    (entry.is_symlink() ? "@" : (entry.is_directory() ? "/" : "")));
  std::sort(names.begin(), names.end());
  return names;
}

int as_ordinary_user(const std::function<int()>& part) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t k_nobody = 65534;
    if (geteuid() == 0 && setresuid(k_nobody, k_nobody, k_nobody) != 0)
      _exit(254);
    _exit(part());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

} // namespace racelab::cache::test

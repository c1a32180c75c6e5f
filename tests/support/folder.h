#pragma once
// A temporary folder for a test, removed with everything in it, read-only folders included.
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace racelab::test {

class Folder {
public:
  Folder() : m_path((std::filesystem::temp_directory_path() / "racelab-unit-XXXXXX").string()) {
    if (mkdtemp(m_path.data()) == nullptr)
      throw std::runtime_error("no temporary folder");
    std::filesystem::permissions(m_path, std::filesystem::perms::all); // also for tests that become an ordinary user
  }

  ~Folder() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    for (auto it = fs::recursive_directory_iterator(m_path, ignored); it != fs::recursive_directory_iterator();
         it.increment(ignored)) {
      std::error_code skipped;
      if (it->is_directory(skipped) && !it->is_symlink(skipped))
        fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, skipped);
    }
    fs::remove_all(m_path, ignored);
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return m_path; }
  std::string operator/(const std::string& name) const { return m_path + "/" + name; }

private:
  std::string m_path;
};

} // namespace racelab::test

// Any bytes as a result.json: they are refused with a text, or every report can be made of them, and what was read says
// the same after writing and reading it again.
#include "base/assert.h"
#include "base/error.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/terminal.h"
#include "result/read_run.h"

#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace racelab;

// A file that only this process sees.
class MemoryFile {
public:
  MemoryFile() : m_fd(memfd_create("result", MFD_CLOEXEC)) { RACELAB_ASSERT(m_fd >= 0); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(m_fd); }
  void hold(const std::uint8_t* data, std::size_t size) const {
    RACELAB_ASSERT(ftruncate(m_fd, 0) == 0);
    RACELAB_ASSERT(pwrite(m_fd, data, size, 0) == static_cast<ssize_t>(size));
  }

private:
  int m_fd;
};

void use(const result::RunResult& run) {
  const std::string once = result::to_json(run).dump();
  const std::string again = result::to_json(result::from_json(result::Json::parse(once), "again")).dump();
  RACELAB_ASSERT(once == again);
  report::render_junit(run);
  report::render_markdown(run);
  report::render_terminal(run, {});
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile k_file;
  k_file.hold(data, size);
  try {
    if (const auto run = result::read_run(k_file.path()))
      use(*run);
    else
      RACELAB_ASSERT(!run.error().empty());
  } catch (const base::UserError& error) {
    RACELAB_ASSERT(error.code() == base::ExitCode::usage && *error.what() != '\0');
  }
  return 0;
}

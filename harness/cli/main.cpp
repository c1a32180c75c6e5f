// The program: turns failures into messages and exit codes.
#include "base/error.h"
#include "cli/verbs.h"
#include "launch/supervise.h"

#include <cstring>
#include <exception>
#include <iostream>

#include <malloc.h>

namespace {

// What result.json is put together in, again and again and each time a little larger, goes back to the system. Left to
// itself, glibc raises its thresholds with every such piece that is freed, and keeps them all.
void return_large_memory() {
#ifdef M_MMAP_THRESHOLD
  constexpr int k_large = 64 * 1024;
  mallopt(M_MMAP_THRESHOLD, k_large);
  mallopt(M_TRIM_THRESHOLD, k_large);
#endif
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--supervise") == 0) {
    return racelab::launch::supervise_main(argc, argv);
  }
  return_large_memory();
  try {
    const int code = racelab::cli::dispatch({argv + 1, argv + argc});
    if (!std::cout.flush()) { // whoever reads it must not take half of it for the whole
      throw racelab::base::UserError(racelab::base::ExitCode::environment, "stdout: cannot be written");
    }
    return code;
  } catch (const racelab::base::UserError& error) {
    // Diagnostics begin with file:line:col, which editors and CI look for.
    std::cerr << (error.is_about_a_file() ? "" : "racelab: ") << error.what() << "\n";
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << "racelab: internal error: " << error.what() << "\n";
    return static_cast<int>(racelab::base::ExitCode::internal);
  }
}

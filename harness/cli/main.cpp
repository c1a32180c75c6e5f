// The program: turns failures into messages and exit codes.
#include "base/error.h"
#include "cli/verbs.h"
#include "launch/supervise.h"

#include <cstring>
#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--supervise") == 0) {
    return racelab::launch::supervise_main(argc, argv);
  }
  try {
    return racelab::cli::dispatch({argv + 1, argv + argc});
  } catch (const racelab::base::UserError& error) {
    // Diagnostics begin with file:line:col, which editors and CI look for.
    std::cerr << (error.is_about_a_file() ? "" : "racelab: ") << error.what() << "\n";
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << "racelab: internal error: " << error.what() << "\n";
    return static_cast<int>(racelab::base::ExitCode::internal);
  }
}

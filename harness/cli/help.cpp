// racelab help
#include "cli/verbs.h"

#include "run/summary.h"

#include <iostream>

#include <fmt/format.h>

namespace racelab::cli {

namespace {

void print_exit_codes() {
  for (const auto code :
       {base::ExitCode::ok, base::ExitCode::expectation_failed, base::ExitCode::usage, base::ExitCode::internal,
        base::ExitCode::gate_regression, base::ExitCode::nothing_ran, base::ExitCode::replay_diverged,
        base::ExitCode::inconclusive, base::ExitCode::environment, base::ExitCode::interrupted}) {
    std::cout << fmt::format("{:>4}  {}\n", static_cast<int>(code), run::meaning_of(code));
  }
}

} // namespace

int help_verb(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments.front() == "exit-codes") {
    print_exit_codes();
    return 0;
  }
  for (const Verb& verb : verbs()) {
    if (!arguments.empty() && arguments.front() == verb.name) {
      return verb.run({"--help"});
    }
  }
  std::cout
      << "racelab replays a training pipeline under a chosen thread interleaving, compile-cache state and GPU layout,\n"
         "again and again, and says what broke and what it cost in tokens/s.\n\n"
         "usage: racelab VERB [options]\n\n";
  for (const Verb& verb : verbs()) {
    std::cout << fmt::format("  {:<10} {}\n", verb.name, verb.about);
  }
  std::cout << "\nracelab VERB --help says more; racelab help exit-codes lists the exit codes.\n";
  return 0;
}

} // namespace racelab::cli

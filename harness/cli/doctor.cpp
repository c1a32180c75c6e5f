// racelab doctor
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"
#include "toolkit/toolkit.h"

#include <iostream>

#include <fmt/format.h>

namespace racelab::cli {

namespace {

struct KnownRace {
  const char* feature;
  const char* value;
  const char* text;
};

// What a feature of a toolkit means for a program with several threads (docs/torch.md).
constexpr KnownRace k_races[] = {
    {"nested_check", "raises", "a compiled call fails or runs uncompiled while another thread traces (pytorch#126024)"},
    {"nested_check", "masked",
     "a compiled call fails while another thread is in a plain make_fx; hidden during compiles"},
    {"is_compiling_leak", "true", "torch.compiler.is_compiling() is true in every thread while one compiles"},
    {"config_scope", "thread",
     "a torch._dynamo.config setting holds only for the thread that made it (pytorch#186537)"},
};

} // namespace

int doctor_verb(const std::vector<std::string>& arguments) {
  std::string name = "current";
  Options options("doctor [TOOLKIT]",
                  "Says what a toolkit and this machine are, which known races they have, and what would be "
                  "skipped.");
  options.positional("TOOLKIT", name, "A toolkit's name or a path to a Python (default: current)", false);
  if (!options.parse(arguments)) {
    return 0;
  }
  toolkit::InstalledToolkits toolkits;
  const auto t = toolkits.get(toolkits.add(name));
  std::cout << fmt::format("toolkit   {}: {}\n", t.name, t.python);
  std::cout << fmt::format("          Python {}, torch {} ({}), triton {}, CUDA {}\n", t.python_version,
                           t.torch.empty() ? "none" : t.torch, t.torch_git.substr(0, 10),
                           t.triton.empty() ? "none" : t.triton, t.cuda.empty() ? "none" : t.cuda);
  if (!t.error.empty()) {
    std::cout << "problem   " << t.error << "\n";
    return static_cast<int>(base::ExitCode::environment);
  }
  std::cout << "GPUs      "
            << (t.gpus.empty() ? "none: layouts are folded onto the CPU, cells that require GPUs are skipped"
                               : fmt::format("{}", fmt::join(t.gpus, ", ")))
            << "\n";
  for (const auto& [feature, value] : t.features) {
    std::cout << fmt::format("feature   {} = {}\n", feature, value);
  }
  for (const KnownRace& race : k_races) {
    const auto at = t.features.find(race.feature);
    if (at != t.features.end() && at->second == race.value) {
      std::cout << "race      " << race.text << "\n";
    }
  }
  for (const auto& [point, why] : t.missing_points) {
    std::cout << fmt::format("missing   point {}: {}\n", point, why);
  }
  return 0;
}

} // namespace racelab::cli

#pragma once
// Folding a scenario's logical GPUs onto the devices of this machine.
#include "scenario/scenario.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace racelab::layout {

// What there is to sit on: "cuda:0", "cuda:1", …; a single "cpu" without GPUs.
struct Devices {
  std::vector<std::string> names{"cpu"};
  bool gpus() const { return names.front() != "cpu"; }
};

// From the number of GPUs of a toolkit, or from `--devices`: "cpu", "cuda:0,cuda:2".
Devices devices_of(int gpus);

struct Placement {
  // Role -> device of each of its actors.
  std::vector<std::pair<std::string, std::vector<std::string>>> roles;
  // "5t3d: 8 logical GPUs on 2: cuda:0 (target 0,2,4, drafter 6), cuda:1 (…)", "1t3d on CPU: 4 logical GPUs".
  std::string text;
  std::optional<std::string> skip; // why the cell cannot run here
};

// The distinct logical GPUs, in rising order, take the devices in turn.
Placement place(const scenario::Layout& layout, const Devices& devices);

// Replaces {layout.ROLE} by the role's devices, comma-separated, and {layout.ROLE.count} by their number,
// {scenario.dir} by the folder; other braces stay.
std::string fill_placeholders(const std::string& text, const Placement& placement,
                              const std::string& scenario_directory);

} // namespace racelab::layout

#include "layout/layout.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace racelab::layout {

Devices devices_of(int gpus) {
  Devices devices;
  if (gpus > 0) {
    devices.names.clear();
    for (int i = 0; i < gpus; ++i) {
      devices.names.push_back("cuda:" + std::to_string(i));
    }
  }
  return devices;
}

Placement place(const scenario::Layout& layout, const Devices& devices) {
  std::set<int> logical;
  for (const auto& [role, gpus] : layout.roles) {
    logical.insert(gpus.begin(), gpus.end());
  }
  std::map<int, std::string> device_of;
  std::size_t next = 0;
  for (const int gpu : logical) {
    device_of[gpu] = devices.names[next++ % devices.names.size()];
  }
  Placement placement;
  std::map<std::string, std::vector<std::string>> sharers;
  for (const auto& [role, gpus] : layout.roles) {
    std::vector<std::string> own;
    std::map<std::string, std::vector<std::string>> here;
    for (const int gpu : gpus) {
      own.push_back(device_of[gpu]);
      here[device_of[gpu]].push_back(std::to_string(gpu));
    }
    placement.roles.emplace_back(role, own);
    for (const auto& [device, numbers] : here) {
      sharers[device].push_back(role + " " + base::join(numbers, ","));
    }
  }
  const int available = devices.gpus() ? static_cast<int>(devices.names.size()) : 0;
  if (layout.required_gpus > available) {
    placement.skip = fmt::format("layout {} requires {} GPU{}, {} at hand", layout.name, layout.required_gpus,
                                 layout.required_gpus == 1 ? "" : "s", available);
  }
  if (layout.roles.empty()) {
    placement.text = devices.gpus() ? fmt::format("{} GPU(s)", available) : "CPU";
    return placement;
  }
  if (!devices.gpus()) {
    placement.text = fmt::format("{} on CPU: {} logical GPUs are the same processor", layout.name, logical.size());
    return placement;
  }
  std::vector<std::string> parts;
  for (const auto& [device, who] : sharers) {
    parts.push_back(fmt::format("{} ({})", device, base::join(who, ", ")));
  }
  placement.text =
      fmt::format("{}: {} logical GPUs on {}: {}", layout.name, logical.size(), available, base::join(parts, ", "));
  return placement;
}

std::string fill_placeholders(const std::string& text, const Placement& placement,
                              const std::string& scenario_directory) {
  std::string result = text;
  const auto replace_all = [&](const std::string& what, const std::string& with) {
    for (std::size_t at = result.find(what); at != std::string::npos; at = result.find(what, at + with.size())) {
      result.replace(at, what.size(), with);
    }
  };
  for (const auto& [role, devices] : placement.roles) {
    replace_all("{layout." + role + "}", base::join(devices, ","));
    replace_all("{layout." + role + ".count}", std::to_string(devices.size()));
  }
  replace_all("{scenario.dir}", scenario_directory);
  return result;
}

} // namespace racelab::layout

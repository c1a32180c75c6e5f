#include "cache/places.h"

#include "cache/layers.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace racelab::cache {

namespace fs = std::filesystem;

namespace {

bool all_of_set(std::string_view text, std::string_view letters) {
  return text.find_first_not_of(letters) == std::string_view::npos;
}

constexpr std::string_view k_small_base32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr std::string_view k_capital_base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// Below a folder: what it holds itself, told by a few names.
std::string part_of(const std::string& folder) {
  std::error_code error;
  bool triton = false, cuda_index = false, cuda_folder = false, inductor = false;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    const bool is_folder = it->symlink_status(ignored).type() == fs::file_type::directory;
    cuda_index = cuda_index || (name == "index" && !is_folder);
    cuda_folder = cuda_folder || (is_folder && name.size() == 1 && all_of_set(name, "0123456789abcdef"));
    triton = triton || (is_folder && name.size() == 52 && all_of_set(name, k_capital_base32));
    inductor = inductor || (is_folder && (name == "fxgraph" || name == "aotautograd"));
    if (!inductor && is_folder && name.size() == 2 && all_of_set(name, k_small_base32)) {
      for (auto in = fs::directory_iterator(it->path(), ignored); !ignored && in != fs::directory_iterator();
           in.increment(ignored)) {
        const std::string file = in->path().filename().string();
        inductor = inductor || (file.size() > 52 && file[0] == 'c' && file.compare(1, 2, name) == 0);
      }
    }
  }
  return inductor ? "inductor" : triton ? "triton" : cuda_index && cuda_folder ? "cuda" : "";
}

// The path as layers know it. Inductor has Triton's cache in triton/DEVICE.
std::string place_in(const Part& part, std::string_view path) {
  std::string_view rest = path.substr(part.prefix.size());
  if (part.name == "inductor" && rest.starts_with("triton/")) {
    rest.remove_prefix(7);
    const std::string_view device = rest.substr(0, rest.find('/'));
    if (all_of_set(device, "0123456789") || device == "cpu") {
      rest.remove_prefix(std::min(rest.size(), device.size() + 1));
    }
    return "triton/" + std::string(rest);
  }
  return part.name + "/" + std::string(rest);
}

std::string entry_of(const CachedFile& file) {
  const std::string folder = file.place.substr(0, file.place.rfind('/'));
  if (file.layer == "fx-graph" || file.layer == "aot" || file.layer.starts_with("triton-")) {
    return folder;
  }
  if (file.layer.starts_with("inductor-") && file.layer != "inductor-other") {
    const std::string_view name = last_name(file.place);
    return folder + "/" + std::string(name.substr(0, name.find('.')));
  }
  return file.layer == "cuda-jit" && last_name(file.place) != "index" ? file.place : std::string();
}

// All but the entry.
void find_layer_of(const std::vector<Part>& parts, CachedFile& file) {
  const auto part =
      std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return file.path.starts_with(p.prefix); });
  if (part == parts.end()) {
    file.layer = "other";
    file.place = file.path;
    return;
  }
  file.place = place_in(*part, file.path);
  if (writer_of_temporary("/" + file.place) != 0) {
    file.layer = "temporary";
    return;
  }
  const Layer* layer = layer_of(file.place);
  const std::string owner = file.place.substr(0, file.place.find('/'));
  file.layer = layer != nullptr ? layer->name : owner == "cuda" ? "cuda-jit" : owner + "-other";
}

} // namespace

std::vector<Part> parts_of(const std::string& folder) {
  if (const std::string part = part_of(folder); !part.empty()) {
    return {{"", part}};
  }
  std::vector<Part> parts;
  std::error_code error;
  std::vector<std::string> names;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() == fs::file_type::directory) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    std::string part = part_of(folder + "/" + name);
    if (part.empty() && (name == "inductor" || name == "triton" || name == "cuda")) {
      part = name; // empty as yet, or by its name
    }
    if (!part.empty()) {
      parts.push_back({name + "/", part});
    }
  }
  return parts;
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

long writer_of_temporary(std::string_view place) {
  const auto number_at = [](std::string_view text) {
    return std::strtol(std::string(text.substr(0, 12)).c_str(), nullptr, 10);
  };
  const std::string_view name = last_name(place);
  if (name.starts_with(".") && name.ends_with(".tmp")) {
    return std::max(number_at(name.substr(1)), 1L);
  }
  if (const std::size_t at = place.find("/tmp.pid_"); at != std::string_view::npos) {
    return std::max(number_at(place.substr(at + 9)), 1L);
  }
  return 0;
}

void place_file(const std::vector<Part>& parts, CachedFile& file) {
  find_layer_of(parts, file);
  file.entry = entry_of(file);
}

} // namespace racelab::cache

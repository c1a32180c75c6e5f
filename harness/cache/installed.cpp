#include "cache/installed.h"

#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>

namespace racelab::cache {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_largest_source = std::size_t{16} << 20U;
constexpr std::size_t k_largest_record = std::size_t{64} << 20U;
constexpr int k_most_modules = 20'000;
constexpr int k_most_deep = 32;

// Where the compiler is; what is beside it (operators, libraries) does not decide what is generated.
constexpr std::string_view k_compiler[] = {"torch/_inductor/", "torch/_dynamo/",   "torch/_functorch/",
                                           "torch/fx/",        "triton/compiler/", "triton/runtime/",
                                           "triton/backends/", "triton/language/"};

bool is_of_compiler(std::string_view path) {
  return path.find("..") == std::string_view::npos &&
         std::any_of(std::begin(k_compiler), std::end(k_compiler),
                     [&](auto folder) { return path.starts_with(folder); });
}

// A regular file, not larger than that; the path may come out of a cache's files.
std::optional<std::string> read_source(const fs::path& path, std::size_t limit = k_largest_source) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || static_cast<std::size_t>(info.st_size) > limit) {
    return std::nullopt;
  }
  auto text = base::read_file(path.string(), limit);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

// NAME = 'VALUE' or NAME: TYPE = 'VALUE' at the beginning of a line.
std::string python_value(std::string_view text, std::string_view name) {
  for (const std::string& line : base::split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || !line.starts_with(name) ||
        (line.size() > name.size() && line[name.size()] != ' ' && line[name.size()] != ':' &&
         line[name.size()] != '=')) {
      continue;
    }
    const std::string_view value = base::trim(std::string_view(line).substr(equals + 1));
    if (value.size() >= 2 && (value[0] == '\'' || value[0] == '"') && value.back() == value[0]) {
      return std::string(value.substr(1, std::min<std::size_t>(value.size() - 2, 100)));
    }
  }
  return {};
}

std::vector<fs::path> records(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    for (const char* package : {"torch-", "triton-", "pytorch_triton-"}) {
      if (name.starts_with(package) && name.ends_with(".dist-info")) {
        found.push_back(it->path() / "RECORD");
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A line of RECORD: PATH,sha256=DIGEST,SIZE; a path with a comma is in quotes, and none of the compiler's has one.
struct Recorded {
  std::string path, digest;
  std::int64_t size = -1;
};

std::optional<Recorded> parse_record(const std::string& line) {
  const auto parts = base::split(base::trim(line), ',');
  if (parts.size() != 3 || !parts[1].starts_with("sha256=")) {
    return std::nullopt;
  }
  return Recorded{parts[0], parts[1].substr(7), std::strtoll(parts[2].c_str(), nullptr, 10)};
}

// Empty: as recorded.
std::string differs(const fs::path& folder, const Recorded& recorded) {
  struct stat info {};
  const fs::path path = folder / recorded.path;
  if (stat(path.c_str(), &info) != 0) {
    return recorded.path + " is missing";
  }
  if (info.st_size != recorded.size) {
    return recorded.path + " differs from its wheel";
  }
  const auto text = read_source(path); // larger ones (ptxas) are told by their size only
  return text && base::base64_url(base::sha256(*text)) != recorded.digest ? recorded.path + " differs from its wheel"
                                                                          : "";
}

void compare_with_records(InstalledTorch& installed) {
  const fs::path folder = installed.folder;
  std::set<std::string> known;
  for (const fs::path& file : records(folder)) {
    const auto text = read_source(file, k_largest_record);
    if (!text) {
      continue;
    }
    for (const std::string& line : base::split(*text, '\n')) {
      const auto recorded = parse_record(line);
      if (!recorded || !is_of_compiler(recorded->path)) {
        continue;
      }
      known.insert(recorded->path);
      if (const std::string what = differs(folder, *recorded); !what.empty()) {
        installed.patched.push_back(what);
      }
    }
    installed.has_record = installed.has_record || !known.empty();
  }
  for (const std::string_view part : k_compiler) {
    std::error_code error;
    const bool recorded =
        std::any_of(known.begin(), known.end(), [&](const auto& path) { return path.starts_with(part); });
    for (auto it = fs::recursive_directory_iterator(folder / part, error);
         recorded && !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      const std::string path = it->path().lexically_relative(folder).string();
      if (it->path().extension() == ".py" && known.count(path) == 0) {
        installed.patched.push_back(path + " is not of its wheel");
      }
    }
  }
}

// The name of the module that a file is, as inspect.getmodulename tells it for the interpreter that it was made for.
std::string module_name(const std::string& file) {
  for (const std::string_view suffix : {".py", ".pyc"}) {
    if (file.ends_with(suffix)) {
      return file.substr(0, file.size() - suffix.size());
    }
  }
  if (!file.ends_with(".so")) {
    return {};
  }
  const std::size_t tag = std::min(file.find(".cpython-"), file.find(".abi3.so"));
  return tag == std::string::npos ? file.substr(0, file.size() - 3) : file.substr(0, tag);
}

struct Module {
  fs::path origin;
  bool package = false;
};

// pkgutil.iter_modules of one folder: module -> where it comes from.
std::map<std::string, Module> modules_in(const fs::path& folder) {
  std::map<std::string, Module> modules;
  std::map<std::string, fs::path> files;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    if (it->is_directory(ignored)) {
      if (name.find('.') == std::string::npos && fs::is_regular_file(it->path() / "__init__.py", ignored)) {
        modules[name] = {it->path() / "__init__.py", true};
      }
    } else if (const std::string module = module_name(name);
               !module.empty() && module != "__init__" && module.find('.') == std::string::npos) {
      fs::path& origin = files[module]; // extensions come before sources, sources before bytecode
      const auto rank = [](const fs::path& p) { return p.extension() == ".so" ? 0 : p.extension() == ".py" ? 1 : 2; };
      if (origin.empty() || rank(it->path()) < rank(origin)) {
        origin = it->path();
      }
    }
  }
  for (const auto& [name, origin] : files) {
    modules.emplace(name, Module{origin, false}); // a package goes before
  }
  return modules;
}

// torch/_inductor/codecache.py, build_code_hash. False: more modules than torch has.
bool digest_modules(const fs::path& folder, const std::string& prefix, int depth, int& left,
                    base::Sha256Hasher& hasher) {
  for (const auto& [name, module] : modules_in(folder)) {
    const auto text = read_source(module.origin, std::size_t{256} << 20U);
    if (--left < 0 || depth > k_most_deep || !text) {
      return false;
    }
    hasher.update(prefix + name);
    hasher.update(*text);
    if (module.package && !digest_modules(folder / name, prefix + name + ".", depth + 1, left, hasher)) {
      return false;
    }
  }
  return true;
}

// codecache.py, torch_key, and the digest of what FxGraphCachePickler makes of it: 32 bytes in protocol 4 (5 from
// Python 3.14 on). Which files beside the modules count depends on the release.
void digest_sources(InstalledTorch& installed) {
  base::Sha256Hasher modules;
  modules.update(installed.torch);
  int left = k_most_modules;
  const fs::path torch = fs::path(installed.folder) / "torch";
  if (!digest_modules(torch, "", 0, left, modules)) {
    return;
  }
  for (const bool with_streams : {false, true}) {
    base::Sha256Hasher hasher = modules;
    for (const char* file : {"codegen/aoti_runtime/interface.cpp", "codegen/aoti_runtime/streams.h", "script.ld"}) {
      const auto text = read_source(torch / "_inductor" / file);
      if (text && (with_streams || std::string_view(file).find("streams") == std::string_view::npos)) {
        hasher.update(*text);
      }
    }
    const base::Sha256 key = hasher.finish();
    for (const char protocol : {'\x04', '\x05'}) {
      std::string pickle = std::string("\x80") + protocol + std::string("\x95\x23\0\0\0\0\0\0\0C\x20", 11);
      pickle.append(key.begin(), key.end());
      installed.sources.push_back(base::base32(base::sha256(pickle + ".")).substr(0, 51));
    }
  }
}

} // namespace

bool InstalledTorch::wrote(const std::string& digest) const {
  return std::find(sources.begin(), sources.end(), digest) != sources.end();
}

InstalledTorch read_versions(const std::string& site_packages) {
  InstalledTorch installed;
  installed.folder = site_packages;
  if (const auto text = read_source(fs::path(site_packages) / "torch/version.py")) {
    installed.there = true;
    installed.torch = python_value(*text, "__version__");
    installed.git = python_value(*text, "git_version");
    installed.cuda = python_value(*text, "cuda");
  }
  if (const auto text = read_source(fs::path(site_packages) / "triton/__init__.py")) {
    installed.triton = python_value(*text, "__version__");
  }
  return installed;
}

InstalledTorch look_at_installed(const std::string& site_packages) {
  InstalledTorch installed = read_versions(site_packages);
  if (installed.there) {
    compare_with_records(installed);
    digest_sources(installed);
  }
  return installed;
}

const InstalledTorch& InstalledTorches::at(const std::string& site_packages) {
  const auto known = m_known.find(site_packages);
  return known != m_known.end() ? known->second
                                : m_known.emplace(site_packages, look_at_installed(site_packages)).first->second;
}

} // namespace racelab::cache

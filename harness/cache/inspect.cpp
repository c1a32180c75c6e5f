#include "cache/inspect.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"
#include "cache/cross_check.h"
#include "cache/layers.h"
#include "cache/places.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;

namespace {

constexpr int k_most_folders_deep = 16;
constexpr std::size_t k_most_files = 2'000'000;
constexpr std::int64_t k_largest_read = std::int64_t{256} << 20U; // larger ones are listed, and not looked into
constexpr unsigned k_most_readers = 4;

std::string system_error() {
  return std::strerror(errno);
}

// Reading must not change the time of the last access either, where the system lets us choose.
base::UniqueFd open_quietly(int folder, const std::string& name, int flags) {
  const int fd = openat(folder, name.c_str(), flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME);
  return base::UniqueFd(fd >= 0 || errno != EPERM
                            ? fd
                            : openat(folder, name.c_str(), flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

FileType type_of(mode_t mode) {
  return S_ISREG(mode)   ? FileType::regular
         : S_ISLNK(mode) ? FileType::link
         : S_ISDIR(mode) ? FileType::folder
                         : FileType::special;
}

struct Listed {
  std::vector<CachedFile> files; // folders, too
  std::vector<std::string> unreadable;
  bool cut = false;
};

// Everything below the folder, without following links.
void list(int folder, const std::string& prefix, int depth, Listed& listed) {
  DIR* stream = fdopendir(dup(folder));
  if (stream == nullptr) {
    return;
  }
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(stream);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    struct stat info {};
    if (fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      continue; // gone meanwhile
    }
    if (listed.files.size() >= k_most_files || depth > k_most_folders_deep) {
      listed.cut = true;
      return;
    }
    CachedFile file;
    file.path = prefix + name;
    file.type = type_of(info.st_mode);
    file.size = file.type == FileType::regular ? info.st_size : 0;
    file.changed_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
    file.mode = info.st_mode & 07777U;
    file.owner = info.st_uid;
    const bool is_folder = file.type == FileType::folder;
    listed.files.push_back(std::move(file));
    if (is_folder) {
      if (const auto child = open_quietly(folder, name, O_DIRECTORY)) {
        list(child.get(), prefix + name + "/", depth + 1, listed);
      } else if (errno != ENOENT) {
        listed.unreadable.push_back(prefix + name + ": " + system_error());
      }
    }
  }
}

// The content of a file below the folder; no component of its path may be a link. nullopt: errno says why.
std::optional<std::string> read_below(int folder, const std::string& path, std::int64_t size_hint) {
  base::UniqueFd at(dup(folder));
  std::size_t from = 0;
  for (std::size_t slash; (slash = path.find('/', from)) != std::string::npos; from = slash + 1) {
    at = base::UniqueFd(
        openat(at.get(), path.substr(from, slash - from).c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at) {
      return std::nullopt;
    }
  }
  const auto file = open_quietly(at.get(), path.substr(from), 0);
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0) {
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    errno = ENOENT; // somebody put something else there meanwhile
    return std::nullopt;
  }
  std::string bytes(static_cast<std::size_t>(std::clamp<std::int64_t>(size_hint, 0, k_largest_read)) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    const ssize_t n = read(file.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return std::nullopt;
    }
    if (n == 0) {
      break;
    }
    used += static_cast<std::size_t>(n);
    if (used == bytes.size()) {
      if (used > static_cast<std::size_t>(k_largest_read)) {
        errno = EFBIG;
        return std::nullopt;
      }
      bytes.resize(2 * bytes.size());
    }
  }
  bytes.resize(used);
  return bytes;
}

bool owner_may_read(const CachedFile& file) {
  return (file.mode & S_IRUSR) != 0;
}

// Reads one file and judges it. False: it is gone.
bool read_one(int folder, CachedFile& file) {
  if (file.type != FileType::regular) {
    return true;
  }
  if (file.size > k_largest_read) {
    return true;
  }
  const auto bytes = read_below(folder, file.path, file.size);
  if (!bytes) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) {
      return false;
    }
    file.facts.damage.push_back(std::string("cannot be read: ") + std::strerror(error));
    return true;
  }
  file.size = static_cast<std::int64_t>(bytes->size());
  if (file.layer == "temporary" || file.layer == "other") {
    file.facts.digest = base::digest(*bytes);
  } else {
    file.facts = facts_of(file.place, file.layer, *bytes);
  }
  if (!owner_may_read(file)) {
    file.facts.damage.push_back(fmt::format("its owner may not read it (mode {:03o})", file.mode));
  }
  return true;
}

// All files, by a few threads: digests take the time.
void read_all(int folder, std::vector<CachedFile>& files) {
  std::atomic<std::size_t> next{0};
  std::vector<char> gone(files.size(), 0);
  const auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < files.size();) {
      gone[i] = read_one(folder, files[i]) ? 0 : 1;
    }
  };
  const unsigned readers = std::clamp(std::thread::hardware_concurrency(), 1U, k_most_readers);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < readers && i < files.size(); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (gone[i] == 0) {
      if (kept != i) {
        files[kept] = std::move(files[i]);
      }
      ++kept;
    }
  }
  files.resize(kept);
}

void add_times(LayerSum& sum, const CachedFile& file) {
  sum.first_ns = sum.files == 0 ? file.changed_ns : std::min(sum.first_ns, file.changed_ns);
  sum.last_ns = sum.files == 0 ? file.changed_ns : std::max(sum.last_ns, file.changed_ns);
}

// In the order of layers(); those that are no layers come last.
std::size_t rank_of(const std::string& layer) {
  const Layer* known = find_layer(layer);
  if (known != nullptr) {
    return static_cast<std::size_t>(known - layers().data());
  }
  const std::string_view others[] = {"inductor-other", "triton-other", "temporary", "other"};
  return layers().size() +
         static_cast<std::size_t>(std::find(std::begin(others), std::end(others), layer) - std::begin(others));
}

void sum_up(Inspection& inspection) {
  std::map<std::size_t, LayerSum> sums;
  std::map<std::size_t, std::set<std::string>> entries;
  std::set<std::string> all;
  std::map<std::string, std::int64_t> unread;
  for (const CachedFile& file : inspection.files) {
    const std::size_t rank = rank_of(file.layer);
    for (LayerSum* sum : {&sums[rank], &inspection.total}) {
      add_times(*sum, file);
      ++sum->files;
      sum->bytes += file.size;
      sum->damaged += file.facts.damage.empty() ? 0 : 1;
    }
    sums[rank].name = file.layer;
    if (!file.entry.empty()) {
      entries[rank].insert(file.entry);
      all.insert(file.entry);
    }
    for (const std::string& what : file.facts.damage) {
      inspection.damage.push_back({file.path, file.layer, what});
    }
    if (file.type == FileType::regular && file.facts.damage.empty()) {
      ++inspection.checked[file.facts.checked];
      unread["larger"] += file.size > k_largest_read ? 1 : 0;
    }
  }
  for (auto& [rank, sum] : sums) {
    sum.entries = static_cast<std::int64_t>(entries[rank].size());
    inspection.layers.push_back(sum);
  }
  inspection.total.name = "total";
  inspection.total.entries = static_cast<std::int64_t>(all.size());
  if (unread["larger"] > 0) {
    inspection.unchecked.push_back(
        fmt::format("{} larger than {}, not read", unread["larger"], base::format_bytes(k_largest_read)));
  }
}

// A folder stands for something only where a file of a layer should be.
bool is_plain_folder(const CachedFile& file) {
  const bool in_cuda = file.place.starts_with("cuda/");
  return file.type == FileType::folder && (in_cuda || file.layer.ends_with("other") || file.layer == "temporary");
}

} // namespace

bool is_cache(const std::string& folder) {
  return !parts_of(folder).empty();
}

tl::expected<Inspection, std::string> inspect(const std::string& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) {
    return tl::unexpected(folder + ": " + error.message());
  }
  const base::UniqueFd root(open(real.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) {
    return tl::unexpected(folder + ": " + system_error());
  }
  const std::vector<Part> parts = parts_of(real.string());
  Inspection inspection;
  inspection.folder = real.string();
  Listed listed;
  list(root.get(), "", 0, listed);
  if (parts.empty() && !listed.files.empty()) {
    return tl::unexpected(folder + ": is no compile cache that racelab knows: neither Inductor's, nor Triton's, nor "
                                   "the CUDA driver's, nor a folder of these");
  }
  for (CachedFile& file : listed.files) {
    place_file(parts, file);
  }
  std::erase_if(listed.files, is_plain_folder);
  inspection.files = std::move(listed.files);
  read_all(root.get(), inspection.files);
  for (const char* name : {"inductor", "triton", "cuda"}) {
    const auto own = [&](const CachedFile& file) { return file.place.starts_with(std::string(name) + "/"); };
    if (std::any_of(inspection.files.begin(), inspection.files.end(), own)) {
      inspection.holds.emplace_back(name);
    }
  }
  cross_check(inspection);
  sum_up(inspection);
  for (const std::string& unreadable : listed.unreadable) {
    inspection.damage.push_back({unreadable.substr(0, unreadable.rfind(": ")), "other",
                                 "a folder that cannot be read: " + unreadable.substr(unreadable.rfind(": ") + 2)});
  }
  if (listed.cut) {
    inspection.unchecked.push_back(
        fmt::format("what is beyond {} files or {} folders deep", k_most_files, k_most_folders_deep));
  }
  return inspection;
}

} // namespace racelab::cache

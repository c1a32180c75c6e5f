#include "cache/inspect.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"
#include "cache/layers.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

// Where parts of a cache are: prefix of paths ("", "inductor/") and what is there.
struct Part {
  std::string prefix, name;
};

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

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// write_atomic's ".PID.THREAD.tmp", Triton's folder "tmp.pid_PID_UUID"; 0: not such a name.
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

bool is_running(long process) {
  constexpr long k_largest = 1L << 22U; // the kernel's own limit
  return process <= k_largest && (kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

// Does anybody hold a lock on the file? As the kernel lists them: "… WRITE PID MAJOR:MINOR:INODE …".
bool is_locked(const std::string& path) {
  struct stat info {};
  const auto locks = base::read_file("/proc/locks", std::size_t{64} << 20U);
  return stat(path.c_str(), &info) == 0 && locks &&
         locks->find(fmt::format(" {:02x}:{:02x}:{} ", major(info.st_dev), minor(info.st_dev), info.st_ino)) !=
             std::string::npos;
}

void place_file(const std::vector<Part>& parts, CachedFile& file) {
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

// What a look-up finds by one key: a folder of its own, or the files of one stem.
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

std::string ages(std::int64_t seconds) {
  return seconds < 120    ? fmt::format("{} s", seconds)
         : seconds < 7200 ? fmt::format("{} min", seconds / 60)
                          : fmt::format("{} h", seconds / 3600);
}

// What only several files together show.
class CrossCheck {
public:
  explicit CrossCheck(Inspection& inspection) : m_inspection(inspection) {
    for (CachedFile& file : inspection.files) {
      m_by_place.emplace(file.place, &file); // the first of several devices
      m_entries[file.layer].insert(file.entry);
    }
  }

  void run() {
    note_bundles();
    for (CachedFile& file : m_inspection.files) {
      types(file);
      temporary(file);
      compiling(file);
      if (file.facts.damage.empty()) {
        graphs(file);
        group(file);
        cuda_index(file);
        bundle(file);
        code(file);
      }
    }
    cuda_cache();
    payloads();
    alone();
    elsewhere();
  }

private:
  void damage(CachedFile& file, std::string what) { file.facts.damage.push_back(std::move(what)); }
  void remark(const CachedFile& file, std::string what) {
    m_inspection.remarks.push_back({file.path, file.layer, std::move(what)});
  }
  bool has(const std::string& place) const { return m_by_place.count(place) != 0; }

  void types(CachedFile& file) {
    if (file.type == FileType::link) {
      remark(file, "a link; not followed");
    } else if (file.type == FileType::special) {
      damage(file, "is neither a file nor a folder");
    } else if (file.type == FileType::folder) {
      damage(file, "a folder where a file should be");
    }
  }

  void temporary(CachedFile& file) {
    const long writer = writer_of_temporary("/" + file.place);
    if (writer == 0 || file.type != FileType::regular) {
      return;
    }
    const std::int64_t age = std::max<std::int64_t>(0, (m_now_ns - file.changed_ns) / 1'000'000'000);
    if (is_running(writer)) {
      remark(file, fmt::format("being written: process {} is there", writer));
    } else {
      damage(file,
             fmt::format("left {} ago by process {}, which is not there: it was never published", ages(age), writer));
    }
  }

  // The linker writes a library under its own name, while Inductor holds the lock of its key.
  void compiling(CachedFile& file) {
    if (file.layer != "inductor-library" || file.facts.damage.empty()) {
      return;
    }
    const std::string stem(last_name(file.place).substr(0, last_name(file.place).find('.')));
    const auto lock = m_by_place.find("inductor/locks/" + stem + ".lock");
    if (lock != m_by_place.end() && is_locked(m_inspection.folder + "/" + lock->second->path)) {
      file.facts.damage.clear();
      remark(file, "being compiled: its lock is held");
    }
  }

  void graphs(CachedFile& file) {
    for (const std::string& key : file.facts.graphs) {
      const auto at = m_entries.find("fx-graph");
      if (at == m_entries.end() || at->second.count("inductor/fxgraph/" + key.substr(1, 2) + "/" + key) == 0) {
        damage(file, "needs the FX graph " + key + ", which is not there");
      }
    }
  }

  void group(CachedFile& file) {
    if (file.layer != "triton-json" || file.facts.group.empty()) {
      return;
    }
    const std::string folder = file.place.substr(0, file.place.rfind('/') + 1);
    for (const std::string& name : file.facts.group) {
      if (!has(folder + name)) {
        damage(file, "names " + name + ", which is not there");
      }
    }
    const std::string own = m_inspection.folder + "/" + file.path.substr(0, file.path.rfind('/'));
    if (!file.facts.group_at.empty() && file.facts.group_at != own) {
      m_elsewhere[file.facts.group_at.substr(0, file.facts.group_at.rfind('/'))] += 1;
    }
  }

  // The driver's index names every entry and its size; whether a file is in the driver's format at all is known by it.
  void cuda_index(CachedFile& file) {
    if (file.layer != "cuda-jit" || file.facts.checked == Checked::not_at_all) {
      return;
    }
    for (std::size_t i = 0; i < file.facts.group.size(); ++i) {
      const auto at = m_by_place.find("cuda/" + file.facts.group[i]);
      if (at == m_by_place.end()) {
        damage(file, "names " + file.facts.group[i] + ", which is not there");
      } else if (at->second->type == FileType::regular && at->second->size != file.facts.group_sizes[i]) {
        damage(file, fmt::format("says that {} has {} bytes, and it has {}", file.facts.group[i],
                                 file.facts.group_sizes[i], at->second->size));
      }
    }
  }

  void cuda_cache() {
    std::vector<CachedFile*> known, unknown;
    for (CachedFile& file : m_inspection.files) {
      if (file.layer == "cuda-jit" && file.type == FileType::regular && file.facts.damage.empty()) {
        (file.facts.checked == Checked::not_at_all ? unknown : known).push_back(&file);
      }
    }
    for (CachedFile* file : unknown) {
      if (!known.empty()) {
        damage(*file, "does not begin as the driver's other files do");
      }
    }
    if (!known.empty() && !has("cuda/index")) {
      damage(*known.front(), "there is no index that names it");
    }
  }

  void note_bundles() {
    for (const CachedFile& file : m_inspection.files) {
      if (file.layer == "fx-graph" && file.facts.damage.empty()) {
        for (const Bundled& bundled : file.facts.bundled) {
          m_bundled["triton/" + bundled.key + "/" + bundled.name].insert(bundled.digest);
        }
      }
    }
  }

  // Triton's groups name absolute paths, which a bundle leaves open.
  void bundle(CachedFile& file) {
    const auto at = m_bundled.find(file.place);
    if (at == m_bundled.end() || last_name(file.place).starts_with("__grp__")) {
      return;
    }
    if (at->second.count(file.facts.digest) != 0) {
      file.facts.checked = Checked::exactly;
    } else {
      damage(file, "is not what the FX graph that uses it carries as a copy");
    }
  }

  void code(CachedFile& file) {
    const std::string& key = file.facts.code;
    if (file.layer == "fx-graph" && !key.empty() && !has("inductor/" + key.substr(1, 2) + "/" + key + ".py")) {
      remark(file, "its code " + key + ".py is not there; torch writes it again from the entry");
    }
  }

  void payloads() {
    std::map<std::string, std::vector<const CachedFile*>> by_entry;
    for (const CachedFile& file : m_inspection.files) {
      if ((file.layer == "fx-graph" || file.layer == "aot") && file.type == FileType::regular) {
        by_entry[file.entry].push_back(&file);
      }
    }
    for (const auto& [entry, files] : by_entry) {
      if (files.size() > 1) {
        remark(*files.front(),
               fmt::format("one of {} payloads under its key: torch takes the first by name whose guards hold",
                           files.size()));
      }
    }
  }

  // Files that come in pairs, or with a group, of which one is not there: torch and Triton make it again.
  void alone() {
    std::map<std::string, std::int64_t> counts;
    std::set<std::string> named;
    for (const CachedFile& file : m_inspection.files) {
      named.insert(file.facts.graphs.begin(), file.facts.graphs.end());
      if (file.layer == "inductor-library" && !has(file.place.substr(0, file.place.size() - 2) + "cpp")) {
        ++counts["of Inductor's libraries have no source beside them"];
      } else if (file.layer == "inductor-source" && file.place.ends_with(".cpp") &&
                 !has(file.place.substr(0, file.place.size() - 3) + "so")) {
        ++counts["of Inductor's sources have no library: torch compiles them again"];
      } else if (file.layer == "triton-cubin") {
        const std::size_t slash = file.place.rfind('/') + 1;
        const std::string kernel = file.place.substr(slash, file.place.rfind('.') - slash);
        counts["of Triton's kernels have no group: Triton does not find them, and compiles them again"] +=
            has(file.place.substr(0, slash) + "__grp__" + kernel + ".json") ? 0 : 1;
      }
    }
    for (const std::string& entry : named.empty() ? std::set<std::string>() : m_entries["fx-graph"]) {
      counts["of the FX graphs are of no AOTAutograd entry"] +=
          named.count(entry.substr(entry.rfind('/') + 1)) == 0 ? 1 : 0;
    }
    for (const auto& [what, count] : counts) {
      if (count > 0) {
        m_inspection.remarks.push_back({"", "", fmt::format("{} {}", count, what)});
      }
    }
  }

  void elsewhere() {
    for (const auto& [folder, count] : m_elsewhere) {
      m_inspection.remarks.push_back(
          {"", "triton-json",
           fmt::format(
               "{} of Triton's groups name files in {}: Triton reads them there, and compiles again where they are not",
               count, folder)});
    }
  }

  Inspection& m_inspection;
  std::map<std::string, CachedFile*> m_by_place;
  std::map<std::string, std::set<std::string>> m_entries;
  std::map<std::string, std::set<std::string>> m_bundled;
  std::map<std::string, int> m_elsewhere;
  std::int64_t m_now_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
};

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
    file.entry = entry_of(file);
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
  CrossCheck(inspection).run();
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

#include "cache/kept.h"

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/text.h"
#include "scenario/formats.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;

namespace {

constexpr std::size_t k_shortest_prefix = 4;

// That of a scenario's names, and no option or hidden file.
bool is_name(const std::string& name) {
  return scenario::rule_of(scenario::Format::name).accepts(name) && name[0] != '.' && name[0] != '-';
}

[[noreturn]] void fail(const std::string& what) {
  throw UserError(ExitCode::environment, what);
}

std::string digest_of(const std::string& path) {
  const base::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) {
    return {};
  }
  base::Sha256Hasher hasher;
  std::vector<char> buffer(std::size_t{1} << 20U);
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return {};
    }
    if (n == 0) {
      return base::hex(hasher.finish());
    }
    hasher.update({buffer.data(), static_cast<std::size_t>(n)});
  }
}

// Every file and folder below; sorted, so that a folder comes before what is in it.
std::vector<KeptFile> describe_tree(const std::string& folder, bool with_digests) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    struct stat info {};
    if (lstat(it->path().c_str(), &info) != 0) {
      continue;
    }
    KeptFile file;
    file.path = it->path().lexically_relative(folder).string();
    file.mode = info.st_mode & 07777U;
    std::error_code ignored;
    if (S_ISLNK(info.st_mode)) {
      file.link = fs::read_symlink(it->path(), ignored).string();
    } else if (S_ISDIR(info.st_mode)) {
      file.path += "/";
    } else {
      file.size = info.st_size;
      file.sha256 = with_digests ? digest_of(it->path().string()) : "";
    }
    files.push_back(std::move(file));
  }
  if (error) {
    fail(folder + ": cannot be read: " + error.message());
  }
  std::sort(files.begin(), files.end(), [](const KeptFile& a, const KeptFile& b) { return a.path < b.path; });
  return files;
}

// Names of files need not be UTF-8, JSON must be: the bytes of such a name stand beside it, as hexadecimal digits.
void put_name(nlohmann::ordered_json& json, const std::string& key, const std::string& name) {
  json[key] = name;
  if (!base::is_utf8(name)) {
    std::string digits;
    for (const char c : name) {
      digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    }
    json[key + "_bytes"] = digits;
  }
}

nlohmann::ordered_json to_json(const Kept& kept) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const KeptFile& file : kept.manifest) {
    nlohmann::ordered_json entry;
    put_name(entry, "path", file.path);
    entry["mode"] = fmt::format("{:04o}", file.mode);
    if (!file.link.empty()) {
      put_name(entry, "link", file.link);
    } else if (!file.path.ends_with("/")) {
      entry["size"] = file.size;
      entry["sha256"] = file.sha256;
    }
    files.push_back(std::move(entry));
  }
  return {{"racelab_cache", 1},  {"from", kept.from},   {"made", kept.made},
          {"files", kept.files}, {"bytes", kept.bytes}, {"manifest", std::move(files)}};
}

std::string text_of(const nlohmann::json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
}

std::string name_of(const nlohmann::json& json, const std::string& key) {
  const std::string digits = text_of(json, (key + "_bytes").c_str());
  std::string name;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    name += static_cast<char>(std::strtoul(digits.substr(i, 2).c_str(), nullptr, 16));
  }
  return digits.empty() ? text_of(json, key.c_str()) : name;
}

std::int64_t number_of(const nlohmann::json& json, const char* name) {
  return json.contains(name) && json[name].is_number_integer() ? json[name].get<std::int64_t>() : -1;
}

std::vector<KeptFile> manifest_of(const nlohmann::json& json) {
  std::vector<KeptFile> files;
  for (const auto& entry : json.is_array() ? json : nlohmann::json::array()) {
    if (!entry.is_object()) {
      continue;
    }
    const std::string mode = text_of(entry, "mode");
    files.push_back({name_of(entry, "path"), text_of(entry, "sha256"), name_of(entry, "link"),
                     std::max<std::int64_t>(number_of(entry, "size"), 0),
                     static_cast<unsigned>(std::strtoul(mode.c_str(), nullptr, 8))});
  }
  return files;
}

// Is `inner` the folder, or below it? Both as they are on the disk.
bool is_within(const fs::path& inner, const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::weakly_canonical(inner, error).lexically_relative(fs::weakly_canonical(folder, error));
  return !relative.empty() && *relative.begin() != "..";
}

bool is_empty_folder(const std::string& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && fs::is_empty(folder, error);
}

// The two folders change places; in one step where the file system can, or the old one stands beside for a moment.
void put_in_place(const std::string& copy, const std::string& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder, error)) || is_empty_folder(folder)) {
    if (rename(copy.c_str(), folder.c_str()) == 0) {
      return;
    }
    fail(folder + ": the copy cannot take its place: " + std::strerror(errno));
  }
  if (renameat2(AT_FDCWD, copy.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    remove_tree(copy); // the old one by now
    return;
  }
  const std::string old = copy + ".old";
  if (rename(folder.c_str(), old.c_str()) != 0) {
    fail(folder + ": cannot be replaced, and was left as it is: " + std::strerror(errno));
  }
  if (rename(copy.c_str(), folder.c_str()) != 0) {
    const int failure = errno;
    static_cast<void>(rename(old.c_str(), folder.c_str()));
    fail(folder + ": cannot be replaced, and was left as it is: " + std::strerror(failure));
  }
  remove_tree(old);
}

// A cache that others may not read has things in it that they may not read in its copy either.
void copy_mode(const std::string& from, const std::string& to) {
  struct stat info {};
  if (stat(from.c_str(), &info) == 0) {
    static_cast<void>(chmod(to.c_str(), (info.st_mode & 0777U) | S_IRWXU));
  }
}

constexpr const char* k_copy_prefix = ".tmp";                  // in the store
constexpr const char* k_restored_prefix = ".racelab-restore."; // beside what is to be replaced

base::UniqueFd open_folder(const std::string& folder) {
  return base::UniqueFd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A copy that has not become whole, which goes if it does not. It is locked as long as its maker lives, so that those
// of makers that were killed are known, and go before the next one is made. What had its place meanwhile (".old")
// stays.
class Temporary {
public:
  Temporary(const std::string& parent, const std::string& prefix, const std::string& name)
      : m_folder(fmt::format("{}/{}{}-{}", parent, prefix, getpid(), name)) {
    remove_abandoned(parent, prefix);
    constexpr int k_attempts = 8; // another one may have removed it before it was locked
    for (int i = 0; i < k_attempts && base::make_folders(m_folder); ++i) {
      m_lock = open_folder(m_folder);
      struct stat locked {};
      struct stat there {};
      if (!m_lock || flock(m_lock.get(), LOCK_EX) != 0 ||
          (fstat(m_lock.get(), &locked) == 0 && stat(m_folder.c_str(), &there) == 0 && locked.st_ino == there.st_ino)) {
        break;
      }
    }
  }
  ~Temporary() { remove_tree(m_folder); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const std::string& folder() const { return m_folder; }

private:
  static void remove_abandoned(const std::string& parent, const std::string& prefix) {
    std::error_code error;
    for (auto it = fs::directory_iterator(parent, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.starts_with(prefix) && !name.ends_with(".old")) {
        const auto lock = open_folder(it->path().string());
        if (lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
          remove_tree(it->path().string());
        }
      }
    }
  }

  std::string m_folder;
  base::UniqueFd m_lock;
};

} // namespace

Kept KeptCaches::keep(const std::string& folder, const std::string& name) {
  if (!is_name(name)) {
    throw UserError(ExitCode::usage, "'" + name +
                                         "' cannot be a snapshot's name: at most 80 letters, digits, '.', '_' and '-', "
                                         "beginning with a letter or digit");
  }
  if (is_within(m_root, folder)) {
    throw UserError(ExitCode::usage, folder + ": has the snapshots themselves in it (" + m_root + ")");
  }
  if (const auto taken = read(name); taken || fs::exists(m_root + "/" + name)) {
    throw UserError(ExitCode::usage,
                    "there is a snapshot " + name + " already" + (taken ? ", made " + taken->made : std::string()));
  }
  const Temporary temporary(m_root, k_copy_prefix, name);
  const std::string content = temporary.folder() + "/content";
  if (const auto copied = copy_tree(folder, content, Vanishing::is_fine); !copied) {
    fail("the snapshot cannot be made: " + copied.error());
  }
  copy_mode(folder, content);
  Kept kept;
  kept.name = name;
  kept.from = fs::canonical(folder).string();
  kept.made = base::iso_time(std::time(nullptr));
  kept.manifest = describe_tree(content, true);
  for (const KeptFile& file : kept.manifest) {
    kept.files += file.path.ends_with("/") ? 0 : 1;
    kept.bytes += file.size;
  }
  const std::string json = to_json(kept).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (const auto written = base::write_file(temporary.folder() + "/manifest.json", json + "\n"); !written) {
    fail("the snapshot cannot be made: " + written.error());
  }
  if (rename(temporary.folder().c_str(), (m_root + "/" + name).c_str()) != 0) {
    throw UserError(errno == ENOTEMPTY || errno == EEXIST ? ExitCode::usage : ExitCode::environment,
                    "the snapshot " + name + " cannot be published: " + std::strerror(errno));
  }
  kept.content = m_root + "/" + name + "/content";
  return kept;
}

std::optional<Kept> KeptCaches::read(const std::string& name) const {
  if (!is_name(name)) {
    return std::nullopt;
  }
  const std::string folder = m_root + "/" + name;
  const auto text = base::read_file(folder + "/manifest.json");
  const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!json.is_object() || number_of(json, "racelab_cache") < 1) {
    return std::nullopt;
  }
  return Kept{name,
              folder + "/content",
              text_of(json, "from"),
              text_of(json, "made"),
              number_of(json, "files"),
              number_of(json, "bytes"),
              false,
              manifest_of(json.value("manifest", nlohmann::json::array()))};
}

std::optional<Kept> KeptCaches::read_scenarios(const std::string& key) const {
  const auto snapshot = SnapshotStore(m_snapshots).find(key);
  if (!snapshot) {
    return std::nullopt;
  }
  struct stat info {};
  const bool told = stat((m_snapshots + "/" + key + "/snapshot.json").c_str(), &info) == 0;
  return Kept{key,
              snapshot->folder,
              snapshot->describes,
              told ? base::iso_time(info.st_mtime) : "",
              snapshot->size.files,
              snapshot->size.bytes,
              true,
              {}};
}

std::optional<Kept> KeptCaches::find(const std::string& name) const {
  if (auto own = read(name)) {
    return own;
  }
  if (!is_name(name) || name.size() < k_shortest_prefix) {
    return std::nullopt;
  }
  std::optional<Kept> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(m_snapshots, error)) {
    const std::string key = entry.path().filename().string();
    if (key.starts_with(name) && is_name(key)) {
      auto kept = read_scenarios(key);
      if (kept && found) {
        throw UserError(ExitCode::usage,
                        "several snapshots begin with " + name + ": " + found->name + ", " + kept->name);
      }
      found = kept ? std::move(kept) : std::move(found);
    }
  }
  return found;
}

std::vector<Kept> KeptCaches::all() const {
  std::vector<Kept> list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(m_root, error)) {
    if (auto kept = read(entry.path().filename().string())) {
      list.push_back(std::move(*kept));
    }
  }
  for (const auto& entry : fs::directory_iterator(m_snapshots, error)) {
    if (auto kept = read_scenarios(entry.path().filename().string())) {
      list.push_back(std::move(*kept));
    }
  }
  std::sort(list.begin(), list.end(), [](const Kept& a, const Kept& b) {
    return std::pair(a.for_scenario, a.name) < std::pair(b.for_scenario, b.name);
  });
  return list;
}

void KeptCaches::restore(const Kept& kept, const std::string& given, bool replace) const {
  std::error_code error;
  // What a link names is replaced, and not the link.
  const fs::path absolute = given.empty() ? fs::path() : fs::absolute(given, error);
  const fs::path folder = error ? fs::path() : fs::weakly_canonical(absolute, error);
  if (error || !folder.has_filename()) {
    fail((given.empty() ? "''" : given) + ": no folder can be made there");
  }
  if (is_within(m_root, folder) || is_within(folder, m_root)) {
    throw UserError(ExitCode::usage, given + ": has the snapshots themselves in it, or is one (" + m_root + ")");
  }
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw UserError(ExitCode::usage, given + ": is no folder");
  }
  if (fs::exists(folder, error) && !is_empty_folder(folder.string()) && !replace) {
    throw UserError(ExitCode::usage, given + ": is not empty; --replace puts the snapshot in its place");
  }
  if (const auto made = base::make_folders(folder.parent_path().string()); !made) {
    fail(made.error());
  }
  const Temporary copy(folder.parent_path().string(), k_restored_prefix, folder.filename().string());
  if (const auto copied = copy_tree(kept.content, copy.folder(), Vanishing::is_failure); !copied) {
    fail(given + ": left as it is: " + copied.error());
  }
  if (const auto wrong = compare_with_manifest(kept, copy.folder()); !wrong.empty()) {
    fail(fmt::format("{}: left as it is: the snapshot {} is damaged: {}", given, kept.name, wrong.front()));
  }
  struct stat info {};
  copy_mode(kept.content, copy.folder());
  if (stat(folder.c_str(), &info) == 0) { // whoever might read the old one may read the new one
    static_cast<void>(chmod(copy.folder().c_str(), info.st_mode & 07777U));
    static_cast<void>(chown(copy.folder().c_str(), info.st_uid, info.st_gid));
  }
  put_in_place(copy.folder(), folder.string());
}

std::vector<std::string> compare_with_manifest(const Kept& kept, const std::string& content) {
  std::vector<std::string> wrong;
  if (kept.manifest.empty()) {
    const TreeSize size = measure(content);
    if (size.files != kept.files || size.bytes != kept.bytes) {
      wrong.push_back(fmt::format("{} files, {} bytes where {} files, {} bytes were kept", size.files, size.bytes,
                                  kept.files, kept.bytes));
    }
    return wrong;
  }
  std::map<std::string, KeptFile> now;
  for (KeptFile& file : describe_tree(content, true)) {
    std::string path = file.path;
    now.emplace(std::move(path), std::move(file));
  }
  for (const KeptFile& file : kept.manifest) {
    const auto at = now.find(file.path);
    if (at == now.end()) {
      wrong.push_back(file.path + " is missing");
    } else if (at->second.sha256 != file.sha256 || at->second.link != file.link) {
      wrong.push_back(file.path + " has another content than was kept");
    } else if (at->second.mode != file.mode) {
      wrong.push_back(fmt::format("{} has mode {:04o} where {:04o} was kept", file.path, at->second.mode, file.mode));
    }
    if (at != now.end()) {
      now.erase(at);
    }
  }
  for (const auto& [path, file] : now) {
    wrong.push_back(path + " was not kept");
  }
  return wrong;
}

} // namespace racelab::cache

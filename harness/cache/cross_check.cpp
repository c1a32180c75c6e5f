#include "cache/cross_check.h"

#include "base/files.h"
#include "cache/places.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace racelab::cache {

namespace {

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

std::string ages(std::int64_t seconds) {
  return seconds < 120    ? fmt::format("{} s", seconds)
         : seconds < 7200 ? fmt::format("{} min", seconds / 60)
                          : fmt::format("{} h", seconds / 3600);
}

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

} // namespace

void cross_check(Inspection& inspection) {
  CrossCheck(inspection).run();
}

} // namespace racelab::cache

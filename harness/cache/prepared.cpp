// One trial's cache folder in the state that the cell asks for.
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cache/caches.h"
#include "cache/layers.h"
#include "cache/mounts.h"
#include "cache/relocate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;
using base::ExitCode;
using base::UserError;
using scenario::CacheState;

namespace {

std::vector<Damaged> or_impossible(tl::expected<std::vector<Damaged>, std::string> done) {
  if (!done) {
    throw StateImpossible(done.error());
  }
  return std::move(*done);
}

tl::expected<void, std::string> no_mounts() {
  return tl::unexpected(std::string("nothing may be mounted"));
}

std::string answer_text(int error) {
  return error == 0 ? "writing works" : std::strerror(error);
}

// The system's answer to one more byte than may be written; 0: it took them.
int errno_of_writing(const std::string& folder, std::uint64_t bytes) {
  const std::string file = folder + "/racelab-probe";
  int error = 0;
  {
    const base::UniqueFd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string block(std::size_t{64} * 1024, 'x');
    error = fd ? 0 : errno;
    for (std::uint64_t written = 0; error == 0 && written < bytes;) {
      const ssize_t n = write(fd.get(), block.data(), block.size());
      error = n < 0 ? errno : 0;
      written += n > 0 ? static_cast<std::uint64_t>(n) : 0;
    }
  }
  unlink(file.c_str());
  return error;
}

} // namespace

bool needs_snapshot(const CacheState& state) {
  return state.kind == scenario::CacheKind::warm && state.filled_by.empty();
}

bool needs_foreign(const CacheState& state) {
  return !state.filled_by.empty() || !state.forge_by.empty();
}

Prepared::Prepared(const CacheState& state, const Sources& sources, const std::string& root, Inventory inventory,
                   Obstacles obstacles)
    : m_root(root), m_inventory(std::move(inventory)), m_obstacles(std::move(obstacles)) {
  const bool foreign = !state.filled_by.empty();
  const auto& source = foreign ? sources.foreign : sources.own;
  const bool filled = state.kind == scenario::CacheKind::warm;
  if (filled && !source) {
    throw UserError(ExitCode::internal, "cache state '" + state.name + "' has no snapshot");
  }
  if (state.quota_bytes > 0) {
    const std::uint64_t own = filled ? static_cast<std::uint64_t>(source->size.bytes) : 0;
    const auto mounted = m_obstacles.no_mounts ? no_mounts() : mount_small(root, own + state.quota_bytes);
    m_mounted = mounted.has_value();
    m_no_mount = mounted ? "" : mounted.error();
  }
  if (filled) {
    copy_from(*source);
  }
  private_caches(root, m_inventory.directories);
  if (foreign) {
    m_changes.push_back("filled by the toolkit " + sources.foreign->describes);
  }
  if (state.copies > 1) {
    m_changes.push_back(fmt::format("shared by {} processes", state.copies));
  }
  if (state.vanish_at) {
    m_changes.push_back("removed when this is passed: " + schedule::to_string(*state.vanish_at));
  }
  change_entries(state, sources);
  if (state.quota_bytes > 0) {
    limit_room(state);
  }
  if (state.read_only) {
    forbid_writing();
  }
  forbid_reading();
}

Prepared::~Prepared() {
  if (m_mounted) {
    unmount(m_root);
  }
}

std::optional<bool> Prepared::is_mended() const {
  return m_damaged.empty() ? std::nullopt : std::optional(cache::is_mended(m_root, m_damaged));
}

void Prepared::copy_from(const SnapshotStore::Snapshot& source) {
  if (auto copied = copy_tree(source.folder, m_root); !copied) {
    throw UserError(ExitCode::environment, copied.error());
  }
  if (const auto moved = relocate_triton(m_root, source.filled_at); !moved) {
    throw UserError(ExitCode::environment, moved.error());
  }
}

void Prepared::change_entries(const CacheState& state, const Sources& sources) {
  for (const std::string& name : state.without) {
    const Layer* layer = find_layer(name, m_inventory.layers);
    const auto files = layer == nullptr ? std::vector<std::string>() : files_of(m_root, *layer, m_inventory.layers);
    if (files.empty()) {
      throw StateImpossible("the cache has no file of the layer " + name + " that could be taken out");
    }
    for (const std::string& file : files) {
      fs::remove(fs::path(m_root) / file);
    }
    m_changes.push_back(fmt::format("{}: {} file{} taken out", name, files.size(), files.size() == 1 ? "" : "s"));
  }
  const auto note = [&](const std::string& head, const std::vector<Damaged>& done) {
    for (const Damaged& d : done) {
      m_changes.push_back(head + ": " + d.file + " " + d.what);
      m_damaged.push_back(d);
    }
  };
  if (!state.forge_layer.empty()) {
    note(state.forge_layer,
         or_impossible(forge(m_root, sources.foreign->folder, state.forge_layer, m_inventory.layers)));
  }
  for (const auto& damage : state.damage) {
    note(damage.layer, or_impossible(apply_damage(m_root, damage, m_inventory.layers)));
  }
  for (const std::string& what : state.left_behind) {
    note(what, or_impossible(leave_behind(m_root, what, m_inventory.layers)));
  }
  m_obstacles.tamper(m_root);
  if (const auto there = verify_damage(m_root, m_damaged); !there) {
    throw StateImpossible("the damage is not there: " + there.error());
  }
}

// Tried out before the trial.
void Prepared::limit_room(const CacheState& state) {
  const std::string room = base::format_bytes(state.quota_bytes);
  if (!m_mounted) {
    m_confinement.file_size_limit = state.quota_bytes;
    m_obstacles.tamper(m_root);
    const int error = base::errno_when_confined(
        m_confinement, [&] { return errno_of_writing(m_root, state.quota_bytes + std::uint64_t{64} * 1024); });
    if (error != EFBIG) {
      throw StateImpossible("the size of files is not limited: " + answer_text(error));
    }
    m_changes.push_back(fmt::format("no file may grow beyond {} (EFBIG): {}", room, m_no_mount));
    return;
  }
  m_obstacles.tamper(m_root);
  const int error = errno_of_writing(m_root, 2 * state.quota_bytes + (std::uint64_t{1} << 20U));
  if (error != ENOSPC) {
    throw StateImpossible("the cache is not full: " + answer_text(error));
  }
  m_changes.push_back(fmt::format("a file system of its own with room for {} more (ENOSPC beyond)", room));
}

void Prepared::forbid_writing() {
  const std::string inside = m_root + "/" + m_inventory.directories.front().name;
  const auto mounted = m_obstacles.no_mounts ? no_mounts() : mount_read_only(m_root);
  if (mounted) {
    m_mounted = true;
    m_obstacles.tamper(m_root);
    if (const int error = errno_of_writing(inside, 1); error != EROFS) {
      throw StateImpossible("the cache is not read-only: writing works");
    }
    m_changes.push_back("mounted read-only (EROFS)");
    return;
  }
  make_unwritable(m_root);
  m_confinement.without_file_powers = true;
  m_obstacles.tamper(m_root);
  const int error = base::errno_when_confined(m_confinement, [&] { return errno_of_writing(inside, 1); });
  if (error != EACCES) {
    throw StateImpossible("the cache is not read-only: " + answer_text(error));
  }
  m_changes.push_back("no permission to write (EACCES), for root neither: " + mounted.error());
}

// Whoever is root reads what he may not, unless he gives up the power to.
void Prepared::forbid_reading() {
  const auto is_unreadable = [](const Damaged& d) { return d.digest == k_unreadable; };
  if (std::none_of(m_damaged.begin(), m_damaged.end(), is_unreadable)) {
    return;
  }
  m_confinement.without_file_powers = true;
  m_obstacles.tamper(m_root);
  for (const Damaged& d : m_damaged) {
    const std::string file = m_root + "/" + d.file;
    const auto try_it = [&] {
      const base::UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
      return fd ? 0 : errno;
    };
    if (!is_unreadable(d)) {
      continue;
    }
    if (const int error = base::errno_when_confined(m_confinement, try_it); error != EACCES) {
      throw StateImpossible(fmt::format("{} can be read all the same{}", d.file,
                                        error == 0 ? "" : fmt::format(": {}", std::strerror(error))));
    }
  }
}

} // namespace racelab::cache

#include "cache/mounts.h"

#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

namespace racelab::cache {

namespace {

tl::unexpected<std::string> refusal(const std::string& what) {
  return tl::unexpected(what + ": " + std::strerror(errno));
}

// In its own user namespace this process keeps its numbers, so that files it makes belong to the same user.
tl::expected<void, std::string> map_ids(uid_t user, gid_t group) {
  const std::pair<const char*, std::string> files[] = {{"/proc/self/setgroups", "deny"},
                                                       {"/proc/self/uid_map", fmt::format("{0} {0} 1", user)},
                                                       {"/proc/self/gid_map", fmt::format("{0} {0} 1", group)}};
  for (const auto& [file, text] : files) {
    const base::UniqueFd fd(open(file, O_WRONLY | O_CLOEXEC));
    if (!fd || write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return refusal(file);
    }
  }
  return {};
}

} // namespace

tl::expected<void, std::string> enter_private_mounts() {
  static bool entered = false;
  if (entered) {
    return {};
  }
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return refusal("no mount namespace of racelab's own");
    }
    if (const auto mapped = map_ids(user, group); !mapped) {
      return mapped;
    }
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return refusal("mounts cannot be made private");
  }
  entered = true;
  return {};
}

tl::expected<void, std::string> mount_small(const std::string& folder, std::uint64_t bytes) {
  if (const auto made = base::make_folders(folder); !made) {
    return made;
  }
  const std::string options = fmt::format("size={},mode=0755", bytes);
  if (mount("racelab", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return refusal("no file system can be mounted on " + folder);
  }
  return {};
}

tl::expected<void, std::string> mount_read_only(const std::string& folder) {
  if (mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0 ||
      mount(nullptr, folder.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0) {
    return refusal(folder + " cannot be mounted read-only");
  }
  return {};
}

void unmount(const std::string& folder) {
  while (umount2(folder.c_str(), MNT_DETACH) == 0) { // a bind mount may lie on a small file system
  }
}

} // namespace racelab::cache

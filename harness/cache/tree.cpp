#include "cache/tree.h"

#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;

namespace {

tl::unexpected<std::string> failure(const std::string& path) {
  return tl::unexpected<std::string>(path + ": cannot be copied: " + std::strerror(errno));
}

tl::expected<void, std::string> copy_bytes(int from, int to, off_t size, const std::string& name) {
  if (ioctl(to, FICLONE, from) == 0) {
    return {};
  }
  while (size > 0) {
    const ssize_t n = copy_file_range(from, nullptr, to, nullptr, static_cast<std::size_t>(size), 0);
    if (n == 0) {
      return {}; // it shrank meanwhile
    }
    if (n < 0) {
      break;
    }
    size -= n;
  }
  char buffer[1 << 16]; // a file system without copy_file_range
  while (size > 0) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n < 0) {
      return failure(name);
    }
    if (n == 0) {
      return {};
    }
    if (write(to, buffer, static_cast<std::size_t>(n)) != n) {
      return failure(name);
    }
    size -= n;
  }
  return {};
}

tl::expected<void, std::string> copy_file(const std::string& from, const std::string& to) {
  const base::UniqueFd in(open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!in || fstat(in.get(), &info) != 0) {
    return failure(from);
  }
  const base::UniqueFd out(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 07777));
  if (!out) {
    return failure(to);
  }
  if (auto copied = copy_bytes(in.get(), out.get(), info.st_size, to); !copied) {
    return copied;
  }
  fchmod(out.get(), info.st_mode & 07777);
  const timespec times[2] = {info.st_atim, info.st_mtim};
  futimens(out.get(), times);
  return {};
}

void copy_mode_and_times(const std::string& from, const std::string& to) {
  struct stat info {};
  if (stat(from.c_str(), &info) == 0) {
    chmod(to.c_str(), info.st_mode & 07777);
    const timespec times[2] = {info.st_atim, info.st_mtim};
    utimensat(AT_FDCWD, to.c_str(), times, 0);
  }
}

} // namespace

TreeSize measure(const std::string& folder) {
  TreeSize size;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const fs::file_type type = it->symlink_status(ignored).type();
    if (type != fs::file_type::directory) {
      ++size.files;
      const auto bytes = type == fs::file_type::regular ? it->file_size(ignored) : 0;
      size.bytes += ignored ? 0 : static_cast<std::int64_t>(bytes);
    }
  }
  return size;
}

namespace {

// One level at a time, so that a folder which goes while it is read ends its own level only.
class TreeCopy {
public:
  explicit TreeCopy(Vanishing vanishing) : m_vanishing(vanishing) {}

  tl::expected<void, std::string> copy(const fs::path& from, const fs::path& to) {
    std::error_code error;
    for (auto it = fs::directory_iterator(from, error); !error && it != fs::directory_iterator(); it.increment(error)) {
      if (auto copied = copy_entry(*it, to / it->path().filename()); !copied) {
        return copied;
      }
    }
    if (error && !may_be_gone(error)) {
      return tl::unexpected<std::string>(from.string() + ": cannot be copied: " + error.message());
    }
    return {};
  }

private:
  bool may_be_gone(const std::error_code& error) const {
    return m_vanishing == Vanishing::is_fine && error == std::errc::no_such_file_or_directory;
  }

  tl::expected<void, std::string> copy_entry(const fs::directory_entry& entry, const fs::path& target) {
    std::error_code error;
    const fs::path& path = entry.path();
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::symlink) {
      fs::copy_symlink(path, target, error);
    } else if (type == fs::file_type::directory) {
      fs::create_directory(target, error);
      if (!error) {
        if (auto copied = copy(path, target); !copied) {
          return copied;
        }
        copy_mode_and_times(path.string(), target.string()); // only now: it may be read-only
      }
    } else if (type == fs::file_type::regular) {
      errno = 0;
      auto copied = copy_file(path.string(), target.string());
      return copied || !may_be_gone({errno, std::generic_category()}) ? copied : tl::expected<void, std::string>();
    }
    if (error && !may_be_gone(error)) {
      return tl::unexpected<std::string>(path.string() + ": cannot be copied to " + target.string() + ": " +
                                         error.message());
    }
    return {};
  }

  Vanishing m_vanishing;
};

} // namespace

tl::expected<void, std::string> copy_tree(const std::string& from, const std::string& to, Vanishing vanishing) {
  if (auto made = base::make_folders(to); !made) {
    return made;
  }
  return TreeCopy(vanishing).copy(from, to);
}

void make_unwritable(const std::string& folder) {
  constexpr fs::perms write = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  const auto take = [&](const fs::path& path) {
    std::error_code ignored;
    fs::permissions(path, write, fs::perm_options::remove | fs::perm_options::nofollow, ignored);
  };
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() != fs::file_type::symlink) {
      take(it->path());
    }
  }
  take(folder);
}

void remove_tree(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    return;
  }
  const auto open_up = [](const fs::path& path) {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, ignored);
  };
  open_up(folder);
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (it->symlink_status(ignored).type() == fs::file_type::directory) { // before the iterator goes into it
      open_up(it->path());
    }
  }
  fs::remove_all(folder, error);
}

} // namespace racelab::cache

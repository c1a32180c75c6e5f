#include "cache/tree.h"

#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

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

} // namespace

TreeSize measure(const std::string& folder) {
  TreeSize size;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) {
      ++size.files;
      const auto bytes = it->is_regular_file(ignored) ? it->file_size(ignored) : 0;
      size.bytes += ignored ? 0 : static_cast<std::int64_t>(bytes);
    }
  }
  return size;
}

tl::expected<void, std::string> copy_tree(const std::string& from, const std::string& to) {
  if (auto made = base::make_folders(to); !made) {
    return made;
  }
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(from, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string target = to + "/" + fs::relative(it->path(), from).string();
    if (it->is_symlink()) {
      fs::copy_symlink(it->path(), target, error);
    } else if (it->is_directory()) {
      fs::create_directory(target, it->path(), error);
    } else if (it->is_regular_file()) {
      if (auto copied = copy_file(it->path().string(), target); !copied) {
        return copied;
      }
    }
  }
  if (error) {
    return tl::unexpected<std::string>(from + ": cannot be copied: " + error.message());
  }
  return {};
}

void remove_tree(const std::string& folder) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (!error) {
    return;
  }
  for (auto it = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  }
  fs::remove_all(folder, error);
}

} // namespace racelab::cache

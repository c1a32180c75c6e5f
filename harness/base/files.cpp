#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::base {

namespace {

tl::unexpected<std::string> failure(const std::string& path, const char* what) {
  return tl::unexpected<std::string>(path + ": " + what + ": " + std::strerror(errno));
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

} // namespace

void UniqueFd::reset(int fd) {
  if (m_fd >= 0) {
    ::close(m_fd);
  }
  m_fd = fd;
}

tl::expected<std::string, std::string> read_file(const std::string& path, std::size_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return failure(path, "cannot be read");
  }
  struct stat info {};
  if (fstat(fd.get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return tl::unexpected<std::string>(path + ": is a folder, not a file");
  }
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return failure(path, "cannot be read");
    }
    if (n == 0) {
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > limit) {
      return tl::unexpected<std::string>(path + ": is larger than " + std::to_string(limit) + " bytes");
    }
  }
}

tl::expected<void, std::string> write_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  {
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd) {
      return failure(path, "cannot be written");
    }
    if (!write_all(fd.get(), text) || fsync(fd.get()) != 0) {
      auto result = failure(path, "cannot be written");
      ::unlink(temporary.c_str());
      return result;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    auto result = failure(path, "cannot be written");
    ::unlink(temporary.c_str());
    return result;
  }
  return {};
}

tl::expected<void, std::string> write_named_file(const std::string& path, std::string_view text) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) {
    return write_file(path, text);
  }
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644));
  if (!fd || !write_all(fd.get(), text)) {
    return failure(path, "cannot be written");
  }
  return {};
}

tl::expected<void, std::string> make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return tl::unexpected<std::string>(path + ": cannot be made: " + error.message());
  }
  return {};
}

} // namespace racelab::base

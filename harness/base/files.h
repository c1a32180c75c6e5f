#pragma once
// Files and folders, with errors as text.
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace racelab::base {

// The whole file, at most `limit` bytes (more is an error).
tl::expected<std::string, std::string> read_file(const std::string& path, std::size_t limit = std::size_t{1} << 30U);

// Writes a temporary file beside `path`, flushes it and renames it: readers see the old or the new text, never a part.
tl::expected<void, std::string> write_file(const std::string& path, std::string_view text);

// Writes to what the user named. A new or plain file as write_file() does; what is anything else (a device, a pipe, a
// link) is written into and keeps its place.
tl::expected<void, std::string> write_named_file(const std::string& path, std::string_view text);

// Makes the folder and its parents; says why if it cannot.
tl::expected<void, std::string> make_folders(const std::string& path);

// A descriptor that closes itself.
class UniqueFd {
public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : m_fd(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : m_fd(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return m_fd; }
  explicit operator bool() const { return m_fd >= 0; }
  int release() {
    const int fd = m_fd;
    m_fd = -1;
    return fd;
  }
  void reset(int fd = -1);

private:
  int m_fd = -1;
};

} // namespace racelab::base

#include "launch/output.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace racelab::launch {

namespace {
constexpr std::size_t k_recent = 8192;

void keep_last(std::string& text, std::size_t size) {
  if (text.size() > size) {
    text.erase(0, text.size() - size);
  }
}
} // namespace

BoundedOutput::BoundedOutput(const std::string& file, std::size_t limit)
    : m_fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      m_half(std::max<std::size_t>(limit / 2, 1)) {
  m_lost = !m_fd;
}

void BoundedOutput::write(const char* data, std::size_t size) {
  while (size > 0 && !m_lost) {
    const ssize_t n = ::write(m_fd.get(), data, size);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      m_lost = true;
      return;
    }
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void BoundedOutput::append(const char* data, std::size_t size) {
  m_recent.append(data, size);
  keep_last(m_recent, k_recent);
  const std::size_t head = m_total < m_half ? std::min<std::size_t>(size, m_half - m_total) : 0;
  write(data, head);
  m_total += size;
  m_end.append(data + head, size - head);
  if (m_end.size() > 2 * m_half) {
    keep_last(m_end, m_half);
  }
}

void BoundedOutput::finish() {
  keep_last(m_end, m_half);
  const std::uint64_t head = std::min<std::uint64_t>(m_total, m_half);
  const std::uint64_t left_out = m_total - head - m_end.size();
  if (left_out > 0) {
    const std::string note = "\n[racelab: " + std::to_string(left_out) + " bytes of output left out here]\n";
    write(note.data(), note.size());
  }
  write(m_end.data(), m_end.size());
  m_fd.reset();
}

std::string BoundedOutput::tail(std::size_t size) const {
  return m_recent.size() <= size ? m_recent : m_recent.substr(m_recent.size() - size);
}

} // namespace racelab::launch

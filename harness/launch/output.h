#pragma once
// A trial's output, kept with a bound: the first half as it comes, the last half when it ends, and how much lay
// between.
#include "base/files.h"

#include <cstdint>
#include <string>

namespace racelab::launch {

class BoundedOutput {
public:
  // Writes to `file` (made anew). A file that cannot be written is no error of the trial: lost() tells.
  BoundedOutput(const std::string& file, std::size_t limit);

  void append(const char* data, std::size_t size);
  // Writes the kept end. Called once.
  void finish();

  // The last bytes seen, at most `size`.
  std::string tail(std::size_t size) const;
  std::uint64_t total() const { return m_total; }
  bool lost() const { return m_lost; }

private:
  void write(const char* data, std::size_t size);

  base::UniqueFd m_fd;
  std::size_t m_half;
  std::uint64_t m_total = 0;
  std::string m_end; // at most 2 * m_half bytes; the last m_half count
  std::string m_recent;
  bool m_lost = false;
};

} // namespace racelab::launch

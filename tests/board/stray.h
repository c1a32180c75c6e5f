#pragma once
#include "board/board.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace racelab::board::test {

// The memory of a board as a stray pointer of the pipeline reaches it.
class Stray {
public:
  explicit Stray(const Board& board) {
    void* at = mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, board.fd(), 0);
    EXPECT_NE(at, MAP_FAILED);
    m_memory = static_cast<Memory*>(at);
  }
  ~Stray() { munmap(m_memory, sizeof(Memory)); }
  Stray(const Stray&) = delete;
  Stray& operator=(const Stray&) = delete;

  Memory* operator->() const { return m_memory; }
  Memory& operator*() const { return *m_memory; }

  // No thread has this number: pid_max is 2^22 at most.
  void hold_mutex_for_nobody() const { m_memory->header.mutex.__data.__lock = 0x3ffffffe; }

private:
  Memory* m_memory;
};

} // namespace racelab::board::test

#pragma once
// A child process that maps the board by its descriptor and acts on it.
#include "board/board.h"

#include <csignal>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace racelab::board::test {

class Child {
public:
  template <class Part> Child(const Board& board, Part part) : m_pid(fork()) {
    if (m_pid == 0) {
      std::string error;
      auto own = Board::map(board.fd(), error);
      if (!own)
        _exit(99);
      part(*own);
      _exit(0);
    }
  }
  ~Child() {
    if (m_pid > 0)
      end_with(SIGKILL);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pid() const { return m_pid; }
  void signal(int number) const { kill(m_pid, number); }
  int wait() {
    int status = -1;
    waitpid(m_pid, &status, 0);
    m_pid = 0;
    return status;
  }
  void end_with(int number) {
    signal(number);
    wait();
  }

private:
  pid_t m_pid;
};

} // namespace racelab::board::test

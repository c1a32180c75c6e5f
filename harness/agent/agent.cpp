// libracelab_agent.so: maps the trial's board and gives every thread its actor. See racelab.h for the contract.
#include "agent/racelab.h"

#include "board/board.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using racelab::board::Board;

std::once_flag g_attach_once;
Board* g_board = nullptr; // stays mapped: threads may still be inside when the process runs its static destructors
std::string g_error;
int g_process = -1;          // number among the trial's processes
std::atomic<int> g_state{0}; // 0 unknown, 1 under racelab, 2 not, 3 broken

// The caller's errno, whatever the system calls below say.
struct KeepErrno {
  int value = errno;
  ~KeepErrno() { errno = value; }
};

// The calling thread's actor; ends it when the thread ends.
struct ThreadActor {
  int id = -1;
  void end() {
    if (id >= 0 && g_board != nullptr) {
      g_board->end_actor(id);
    }
    id = -1;
  }
  ~ThreadActor() { end(); }
};
thread_local ThreadActor t_actor;

// RACELAB_BOARD is "FD:INODE:PATH": an inherited descriptor, and a path for processes whose parent closed it.
int open_board(const char* spec, std::string& error) {
  int fd = -1;
  unsigned long inode = 0;
  int path_at = 0;
  if (std::sscanf(spec, "%d:%lu:%n", &fd, &inode, &path_at) != 2 || path_at == 0) {
    error = std::string("RACELAB_BOARD is malformed: ") + spec;
    return -1;
  }
  struct stat info {};
  if (fstat(fd, &info) == 0 && info.st_ino == inode) {
    return dup(fd);
  }
  const int opened = open(spec + path_at, O_RDWR | O_CLOEXEC);
  if (opened < 0) {
    error = std::string("cannot open the trial's board ") + (spec + path_at) + ": " + std::strerror(errno);
  }
  return opened;
}

void forget_parent_actor() {
  t_actor.id = -1; // the child's only thread is a new actor; the parent's goes on in the parent
  if (g_board != nullptr) {
    g_process = g_board->agent_attached();
  }
}

void attach() {
  const char* spec = std::getenv("RACELAB_BOARD");
  if (spec == nullptr || *spec == '\0') {
    g_state = 2;
    return;
  }
  const int fd = open_board(spec, g_error);
  if (fd >= 0) {
    if (auto board = Board::map(fd, g_error)) {
      g_board = new Board(std::move(*board));
    }
    close(fd);
  }
  if (g_board == nullptr) {
    g_state = 3;
    return;
  }
  g_process = g_board->agent_attached();
  pthread_atfork(nullptr, nullptr, forget_parent_actor);
  g_state = 1;
}

Board* board() {
  if (g_state.load(std::memory_order_acquire) == 0) {
    std::call_once(g_attach_once, attach);
  }
  return g_state.load(std::memory_order_relaxed) == 1 ? g_board : nullptr;
}

int enter(Board& b, std::string name) {
  // Of several copies of a pipeline all but the first bear their number.
  if (const char* copy = std::getenv("RACELAB_COPY"); copy != nullptr && *copy != '\0') {
    name = name + "@" + copy;
  }
  return b.enter_actor(name, getpid(), static_cast<int>(syscall(SYS_gettid)),
                       static_cast<std::uint64_t>(pthread_self()));
}

int actor(Board& b) {
  if (t_actor.id < 0) {
    char name[32] = "thread";
    pthread_getname_np(pthread_self(), name, sizeof name);
    t_actor.id = enter(b, name);
  }
  return t_actor.id;
}

// The folders in RACELAB_CACHES, as a cleaner of temporary files would remove them.
void remove_caches(Board& b, int actor) {
  const char* root = std::getenv("RACELAB_CACHES");
  std::error_code error;
  std::int64_t removed = 0;
  for (std::filesystem::directory_iterator it(root == nullptr ? "" : root, error), end; !error && it != end;) {
    const std::filesystem::path folder = it->path();
    it.increment(error);
    std::error_code ignored; // what cannot be removed stays
    const auto count = std::filesystem::remove_all(folder, ignored);
    removed += count == static_cast<std::uintmax_t>(-1) ? 0 : static_cast<std::int64_t>(count);
  }
  b.log_removal(actor, removed);
}

// Nobody waits for an event of this process any more.
[[noreturn]] void die(Board& b) {
  b.end_process(getpid());
  kill(getpid(), SIGKILL);
  for (;;) {
    pause();
  }
}

} // namespace

extern "C" {

int racelab_attach(void) {
  const KeepErrno keep;
  const Board* b = board();
  return b != nullptr ? 1 : (g_state.load() == 3 ? -1 : 0);
}

const char* racelab_error(void) {
  return g_error.c_str();
}

int racelab_process(void) {
  const KeepErrno keep;
  return board() == nullptr ? -1 : g_process;
}

int racelab_actor(const char* name) {
  const KeepErrno keep;
  Board* b = board();
  if (b == nullptr) {
    return -1;
  }
  t_actor.end();
  t_actor.id = enter(*b, name);
  return t_actor.id;
}

void racelab_actor_end(void) {
  const KeepErrno keep;
  if (board() != nullptr) {
    t_actor.end();
  }
}

int racelab_current_actor(void) {
  const KeepErrno keep;
  Board* b = board();
  return b == nullptr ? -1 : actor(*b);
}

int racelab_point_id(const char* name) {
  const KeepErrno keep;
  Board* b = board();
  return b == nullptr ? -1 : b->find_point(name);
}

int racelab_lock_id(const char* name) {
  const KeepErrno keep;
  Board* b = board();
  return b == nullptr ? -1 : b->find_lock(name);
}

int64_t racelab_point(int point) {
  const KeepErrno keep;
  if (point < 0) {
    return -1;
  }
  Board* b = board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a < 0) {
    return -1;
  }
  const int64_t index = b->pass(a, point);
  if (b->has_deeds()) {
    if (b->takes_removal(a, point)) {
      remove_caches(*b, a);
    }
    if (b->kills(index)) {
      die(*b);
    }
  }
  return index;
}

void racelab_tokens(int64_t count) {
  const KeepErrno keep;
  Board* b = board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a >= 0) {
    b->log_tokens(a, count);
  }
}

void racelab_lock_wanted(int lock) {
  const KeepErrno keep;
  Board* b = lock < 0 ? nullptr : board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a >= 0) {
    b->lock_wanted(a, lock);
  }
}

void racelab_lock_taken(int lock) {
  const KeepErrno keep;
  Board* b = lock < 0 ? nullptr : board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a >= 0) {
    b->lock_taken(a, lock);
  }
}

void racelab_lock_not_taken(int lock) {
  const KeepErrno keep;
  Board* b = lock < 0 ? nullptr : board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a >= 0) {
    b->lock_not_taken(a);
  }
}

void racelab_lock_released(int lock) {
  const KeepErrno keep;
  Board* b = lock < 0 ? nullptr : board();
  const int a = b == nullptr ? -1 : actor(*b);
  if (a >= 0) {
    b->lock_released(a, lock);
  }
}

void racelab_fact_lost(void) {
  const KeepErrno keep;
  Board* b = board();
  if (b != nullptr) {
    b->count_lost_fact();
  }
}

} // extern "C"

#include "launch/process_view.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace racelab::launch {

namespace {

std::string read_small(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return {};
  }
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  close(fd);
  return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
}

std::vector<int> numeric_entries(const std::string& folder) {
  std::vector<int> numbers;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) {
    return numbers;
  }
  while (const dirent* entry = readdir(dir)) {
    const int number = std::atoi(entry->d_name);
    if (number > 0) {
      numbers.push_back(number);
    }
  }
  closedir(dir);
  return numbers;
}

struct KnownCall {
  long number;
  const char* name;
  int timeout_argument; // 1-based position of the time-out, 0: has none, -1: always timed
  bool pointer;         // the time-out is a pointer (null: none), else a number (negative: none)
};

constexpr KnownCall k_calls[] = {
    {SYS_futex, "futex", 4, true},
    {SYS_nanosleep, "nanosleep", -1, false},
    {SYS_clock_nanosleep, "clock_nanosleep", -1, false},
    {SYS_poll, "poll", 3, false},
    {SYS_ppoll, "ppoll", 3, true},
    {SYS_select, "select", 5, true},
    {SYS_pselect6, "pselect6", 5, true},
    {SYS_epoll_wait, "epoll_wait", 4, false},
    {SYS_epoll_pwait, "epoll_pwait", 4, false},
    {SYS_read, "read", 0, false},
    {SYS_wait4, "wait4", 0, false},
    {SYS_waitid, "waitid", 0, false},
    {SYS_accept, "accept", 0, false},
    {SYS_recvfrom, "recvfrom", 0, false},
    {SYS_recvmsg, "recvmsg", 0, false},
    {SYS_pause, "pause", 0, false},
    {SYS_accept4, "accept4", 0, false},
    {SYS_write, "write", 0, false},
    {SYS_openat, "openat", 0, false},
    {SYS_flock, "flock", 0, false},
    {SYS_fcntl, "fcntl", 0, false},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", 3, true},
};

// /proc/…/syscall: "NUMBER ARG1 … ARG6 SP PC", or "running". A call that we do not know may end by itself.
void read_syscall(const std::string& text, ThreadView& thread) {
  thread.timed_wait = true;
  std::istringstream in(text);
  long number = -1;
  if (!(in >> number)) {
    return;
  }
  long long arguments[6] = {};
  for (long long& argument : arguments) {
    std::string word;
    in >> word;
    argument = static_cast<long long>(std::strtoull(word.c_str(), nullptr, 16));
  }
  for (const KnownCall& call : k_calls) {
    if (call.number != number) {
      continue;
    }
    thread.waits_in = call.name;
    if (call.timeout_argument == 0) {
      thread.timed_wait = false;
    } else if (call.timeout_argument > 0) {
      const long long value = arguments[call.timeout_argument - 1];
      thread.timed_wait = call.pointer ? value != 0 : static_cast<int>(value) >= 0;
    }
    return;
  }
}

// Fields of stat after the name in parentheses: state is field 3, utime 14, stime 15, cutime 16, cstime 17.
bool read_stat(const std::string& text, char& state, std::uint64_t& own, std::uint64_t& children) {
  const std::size_t after = text.rfind(')');
  if (after == std::string::npos) {
    return false;
  }
  std::istringstream in(text.substr(after + 1));
  std::string word;
  in >> state;
  for (int field = 4; field < 14; ++field) {
    in >> word;
  }
  std::uint64_t utime = 0, stime = 0, cutime = 0, cstime = 0;
  in >> utime >> stime >> cutime >> cstime;
  own = utime + stime;
  children = cutime + cstime;
  return static_cast<bool>(in);
}

// False if there is no such process (any more).
bool view_process(int pid, TreeView& view, std::vector<int>& children) {
  const std::string base = "/proc/" + std::to_string(pid) + "/task/";
  bool first = true;
  for (const int tid : numeric_entries(base)) {
    const std::string task = base + std::to_string(tid);
    ThreadView thread;
    thread.pid = pid;
    thread.tid = tid;
    std::uint64_t own = 0, waited_for = 0;
    if (!read_stat(read_small(task + "/stat"), thread.state, own, waited_for)) {
      continue;
    }
    thread.name = read_small(task + "/comm");
    while (!thread.name.empty() && thread.name.back() == '\n') {
      thread.name.pop_back();
    }
    if (thread.state == 'S') {
      read_syscall(read_small(task + "/syscall"), thread);
    }
    view.cpu_ticks += own + (first ? waited_for : 0); // cutime is the whole process's, the same in every thread
    first = false;
    view.threads.push_back(std::move(thread));
    std::istringstream in(read_small(task + "/children"));
    for (int child = 0; in >> child;) {
      children.push_back(child);
    }
  }
  return !first;
}

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  const std::string base = "/proc/" + std::to_string(pid) + "/task/";
  for (const int tid : numeric_entries(base)) {
    std::istringstream in(read_small(base + std::to_string(tid) + "/children"));
    for (int child = 0; in >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

} // namespace

bool TreeView::any_running() const {
  return std::any_of(threads.begin(), threads.end(),
                     [](const ThreadView& t) { return t.state == 'R' || t.state == 'D'; });
}

bool TreeView::any_timed_wait() const {
  return std::any_of(threads.begin(), threads.end(),
                     [](const ThreadView& t) { return t.state == 'S' && t.timed_wait; });
}

TreeView view_tree(int pid, int reaper) {
  TreeView view;
  std::vector<int> todo = reaper > 0 ? children_of(reaper) : std::vector<int>();
  todo.push_back(pid);
  std::set<int> seen;
  while (!todo.empty() && seen.size() < 4096) {
    const int next = todo.back();
    todo.pop_back();
    if (!seen.insert(next).second) {
      continue;
    }
    if (view_process(next, view, todo)) {
      view.pids.push_back(next);
    }
  }
  return view;
}

} // namespace racelab::launch

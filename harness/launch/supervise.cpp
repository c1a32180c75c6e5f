#include "launch/supervise.h"

#include "base/powers.h"
#include "launch/channel.h"
#include "launch/trial.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch {

namespace {

std::vector<int> children_of_this_process() {
  const std::string pid = std::to_string(getpid());
  std::ifstream in("/proc/self/task/" + pid + "/children");
  std::vector<int> children;
  for (int child = 0; in >> child;) {
    children.push_back(child);
  }
  return children;
}

// Kills and reaps what the pipeline left, and returns how many processes were still alive; bounded, since a process in
// uninterruptible I/O does not die at once.
int kill_left_over() {
  int killed = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::vector<int> children = children_of_this_process();
    if (children.empty()) {
      break;
    }
    for (const int child : children) {
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      int status = 0;
      if (waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        ++killed;
      }
    }
  }
  return killed;
}

// The copies of a pipeline, which share its session, and their end: that of the first one which fails.
[[noreturn]] void await_copies(const std::vector<pid_t>& copies) {
  signal(k_stack_signal, SIG_IGN); // of a watcher that means the pipeline
  int first_failure = 0;
  for (const pid_t copy : copies) {
    int status = 0;
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR) {
    }
    first_failure = first_failure == 0 ? status : first_failure;
  }
  if (WIFSIGNALED(first_failure)) {
    prctl(PR_SET_DUMPABLE, 0); // the copy has left its core already
    signal(WTERMSIG(first_failure), SIG_DFL);
    kill(getpid(), WTERMSIG(first_failure));
  }
  _exit(WEXITSTATUS(first_failure));
}

// In a process for each copy this returns, with RACELAB_COPY set from the second on.
void fork_copies(int count) {
  if (count <= 1) {
    return;
  }
  std::vector<pid_t> copies;
  for (int copy = 1; copy <= count; ++copy) {
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (copy > 1) {
        setenv("RACELAB_COPY", std::to_string(copy).c_str(), 1);
      }
      return;
    }
    copies.push_back(pid);
  }
  for (int fd = 3; fd < 1024; ++fd) { // the report of a failed exec and the board are the copies'
    close(fd);
  }
  await_copies(copies);
}

struct Pipeline {
  int out, err;
  const char* directory;
  int copies;
  base::Confinement confinement;
  char** argv;
};

[[noreturn]] void become_pipeline(const Pipeline& p, int report) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(p.out, 1);
  dup2(p.err, 2);
  close(null);
  close(p.out);
  close(p.err);
  int error = chdir(p.directory) == 0 ? base::confine(p.confinement) : errno;
  if (error == 0) {
    fork_copies(p.copies);
    execvp(p.argv[0], p.argv);
    error = errno;
  }
  const ssize_t ignored = write(report, &error, sizeof error);
  static_cast<void>(ignored);
  _exit(127);
}

// Waits until the child has been replaced by the pipeline (the pipe closes); otherwise returns the error.
int exec_error(int pipe_read) {
  int error = 0;
  ssize_t n = 0;
  do {
    n = read(pipe_read, &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  return n == sizeof error ? error : 0;
}

// The caches of a trial may be file systems of their own, in racelab's mount namespace, which this process is in.
void unmount_below(const std::string& folder) {
  std::vector<std::string> places;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string device, place, rest; mounts >> device >> place && std::getline(mounts, rest);) {
    if (place.starts_with(folder + "/")) {
      places.push_back(place);
    }
  }
  std::for_each(places.rbegin(), places.rend(), [](const auto& place) { umount2(place.c_str(), MNT_DETACH); });
}

// Removes racelab's temporary folder if nobody holds its lock: racelab did not live to do so. The lock goes last, since
// the next racelab finds by it what could not be removed.
void remove_abandoned(const std::string& folder) {
  const int lock = open((folder + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return;
  }
  unmount_below(folder);
  std::error_code error;
  bool empty = true;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename() != "lock") {
      std::error_code failure;
      std::filesystem::remove_all(entry.path(), failure);
      empty = empty && !failure;
    }
  }
  if (empty && !error) {
    std::filesystem::remove_all(folder, error);
  }
}

void wait_for_end(int pid, int channel, const char* scratch) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd fds[2] = {{pidfd, POLLIN, 0}, {channel, 0, 0}};
  while (poll(fds, 2, -1) < 0 || (fds[0].revents == 0 && fds[1].revents == 0)) {
  }
  if (fds[0].revents == 0) { // racelab is gone
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    kill_left_over();
    remove_abandoned(scratch);
    _exit(0);
  }
}

} // namespace

int supervise_main(int argc, char** argv) {
  if (argc < 12) {
    return 2;
  }
  const int channel = std::atoi(argv[2]), board = std::atoi(argv[3]), out = std::atoi(argv[4]),
            err = std::atoi(argv[5]);
  const Pipeline pipeline{out,
                          err,
                          argv[6],
                          std::atoi(argv[8]),
                          {std::strcmp(argv[10], "1") == 0, std::strtoull(argv[9], nullptr, 10)},
                          argv + 11};
  // No PR_SET_PDEATHSIG here: whoever outlives racelab by a moment can kill the daemons that the pipeline made. The
  // closed channel tells.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  fcntl(channel, F_SETFD, FD_CLOEXEC);
  fcntl(board, F_SETFD, 0);
  int exec_pipe[2];
  if (pipe2(exec_pipe, O_CLOEXEC) != 0) {
    return 1;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    become_pipeline(pipeline, exec_pipe[1]);
  }
  close(exec_pipe[1]);
  close(out);
  close(err);
  close(board);
  const int error = pid < 0 ? errno : exec_error(exec_pipe[0]);
  if (error != 0) {
    send_message(channel, {{"error", std::string(pipeline.argv[0]) + " cannot be started in " + argv[6] + ": " +
                                         std::strerror(error)}});
    return 1;
  }
  send_message(channel, {{"pid", pid}});
  wait_for_end(pid, channel, argv[7]);
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  const int left_over = kill_left_over();
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  send_message(channel, {{"exit", status},
                         {"left_over", left_over},
                         {"rusage",
                          {{"user_s", seconds(usage.ru_utime)},
                           {"system_s", seconds(usage.ru_stime)},
                           {"max_rss_bytes", usage.ru_maxrss * 1024}}}});
  return 0;
}

} // namespace racelab::launch

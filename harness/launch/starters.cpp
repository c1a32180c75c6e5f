#include "launch/starters.h"

#include "base/error.h"
#include "launch/channel.h"
#include "launch/interrupt.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch {

namespace {

struct SocketPair {
  base::UniqueFd ours, theirs;
};

SocketPair make_sockets() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    throw base::UserError(base::ExitCode::environment, std::string("no socket pair: ") + std::strerror(errno));
  }
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

// Starts a program that keeps the listed descriptors (they are close-on-exec here) and gets exactly this environment.
pid_t spawn(std::vector<std::string> argv, const Environment& environment, const std::vector<int>& keep,
            const std::string& stderr_file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (!stderr_file.empty()) {
    posix_spawn_file_actions_addopen(&actions, 1, stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  }
  for (const int fd : keep) {
    posix_spawn_file_actions_adddup2(&actions, fd, fd); // onto itself: clears close-on-exec
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  std::vector<char*> words, pointers;
  for (std::string& word : argv) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  for (std::string& variable : variables) {
    pointers.push_back(variable.data());
  }
  pointers.push_back(nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1); // see end_orphans
  pid_t pid = 0;
  const int error = posix_spawn(&pid, words[0], &actions, nullptr, words.data(), pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw base::UserError(base::ExitCode::environment, argv[0] + ": cannot be started: " + std::strerror(error));
  }
  return pid;
}

std::string board_path(const board::Board& board) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(board.fd());
}

// What a supervisor or server that was killed itself has left comes to racelab: everything of a trial is in a session
// of the trial's own, as no other child of racelab is. Bounded, since a process in uninterruptible I/O does not die.
void end_orphans() {
  for (int round = 0; round < 1000; ++round) {
    std::ifstream in("/proc/self/task/" + std::to_string(getpid()) + "/children");
    bool any = false;
    for (int child = 0; in >> child;) {
      if (getsid(child) != getsid(0)) {
        any = true;
        kill(child, SIGKILL);
        waitpid(child, nullptr, WNOHANG);
      }
    }
    if (!any) {
      return;
    }
    poll(nullptr, 0, 2);
  }
}

void reap(pid_t& pid) {
  if (pid <= 0) {
    return;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
  if (!WIFEXITED(status)) {
    end_orphans();
  }
}

} // namespace

int FreshStarter::start(const TrialSpec& spec, const board::Board& board, int out, int err) {
  SocketPair sockets = make_sockets();
  struct stat info {};
  fstat(board.fd(), &info);
  Environment environment = spec.environment;
  environment.emplace_back("RACELAB_BOARD",
                           std::to_string(board.fd()) + ":" + std::to_string(info.st_ino) + ":" + board_path(board));
  std::vector<std::string> argv{"/proc/self/exe",
                                "--supervise",
                                std::to_string(sockets.theirs.get()),
                                std::to_string(board.fd()),
                                std::to_string(out),
                                std::to_string(err),
                                spec.directory,
                                spec.scratch,
                                std::to_string(spec.copies),
                                std::to_string(spec.confinement.file_size_limit),
                                std::to_string(spec.confinement.without_file_powers ? 1 : 0)};
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  m_supervisor = spawn(argv, environment, {sockets.theirs.get(), board.fd(), out, err}, "");
  m_channel = std::move(sockets.ours);
  return m_channel.get();
}

void FreshStarter::finish() {
  m_channel.reset(); // the supervisor ends with it
  reap(m_supervisor);
}

ForkServer::~ForkServer() {
  stop();
}

void ForkServer::stop() {
  m_channel.reset();
  if (m_pid > 0) {
    kill(m_pid, SIGTERM);
  }
  reap(m_pid);
}

double ForkServer::ensure_started() {
  if (m_pid > 0) {
    pollfd fd{m_channel.get(), POLLIN, 0};
    if (poll(&fd, 1, 0) == 0) { // a server that has died closed its end
      return 0;
    }
    stop();
  }
  const auto started = std::chrono::steady_clock::now();
  SocketPair sockets = make_sockets();
  m_pid = spawn({m_python, "-m", "racelab_agent.fork_server", std::to_string(sockets.theirs.get()), m_scratch},
                m_environment, {sockets.theirs.get()}, m_log_file);
  sockets.theirs.reset();
  m_channel = std::move(sockets.ours);
  pollfd fd{m_channel.get(), POLLIN, 0};
  while (poll(&fd, 1, -1) < 0 && errno == EINTR && interrupts() == 0) {
  }
  if (interrupts() > 0) {
    stop();
    throw base::UserError(base::ExitCode::interrupted, "interrupted while the fork server started");
  }
  const auto ready = receive_message(m_channel.get());
  if (!ready || !ready->value("ready", false)) {
    stop();
    const auto log = base::read_file(m_log_file);
    throw base::UserError(base::ExitCode::environment,
                          "the fork server of " + m_python + " did not start" +
                              (log && !log->empty() ? ":\n" + log->substr(log->size() > 2000 ? log->size() - 2000 : 0)
                                                    : std::string(" (nothing on its stderr)")));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

int ForkServer::start(const TrialSpec& spec, const board::Board& board, int out, int err) {
  ensure_started();
  Json environment = Json::object();
  for (const auto& [name, value] : spec.environment) {
    environment[name] = value;
  }
  const Json request{{"argv", std::vector<std::string>(spec.argv.begin() + 1, spec.argv.end())},
                     {"env", environment},
                     {"cwd", spec.directory},
                     {"copies", spec.copies},
                     {"file_size_limit", spec.confinement.file_size_limit},
                     {"without_file_powers", spec.confinement.without_file_powers},
                     {"board_path", board_path(board)}};
  if (!send_message(m_channel.get(), request, {board.fd(), out, err})) {
    throw base::UserError(base::ExitCode::environment,
                          std::string("the fork server does not answer: ") + std::strerror(errno));
  }
  return m_channel.get();
}

void ForkServer::finish() {
  // A trial that could not be killed, or a server that died, would answer the next request wrongly: start anew then.
  if (m_pid > 0) {
    pollfd fd{m_channel.get(), POLLIN, 0};
    if (poll(&fd, 1, 0) != 0) {
      stop();
    }
  }
}

} // namespace racelab::launch

#include "base/powers.h"

#include <cerrno>
#include <csignal>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::base {

namespace {

int drop_file_powers() {
  constexpr unsigned powers = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (syscall(SYS_capget, &header, data) != 0) {
    return errno;
  }
  for (const int power : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) { // or root has them again after exec
    const bool is_bounded = prctl(PR_CAPBSET_READ, power) == 1;
    if (is_bounded && getuid() == 0 && prctl(PR_CAPBSET_DROP, power) != 0) {
      return errno;
    }
  }
  data[0].effective &= ~powers;
  data[0].permitted &= ~powers;
  data[0].inheritable &= ~powers;
  return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

} // namespace

int confine(const Confinement& confinement) {
  if (confinement.file_size_limit > 0) {
    signal(SIGXFSZ, SIG_IGN); // also in what is executed: the call then fails
    const rlimit limit{confinement.file_size_limit, confinement.file_size_limit};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return errno;
    }
  }
  return confinement.without_file_powers ? drop_file_powers() : 0;
}

int errno_when_confined(const Confinement& confinement, const std::function<int()>& action) {
  const pid_t pid = fork();
  if (pid < 0) {
    return errno;
  }
  if (pid == 0) {
    const int error = confine(confinement);
    _exit(error != 0 ? error : action());
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

} // namespace racelab::base

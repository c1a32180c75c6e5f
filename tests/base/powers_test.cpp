// What a confined process may not do any more.
#include "base/powers.h"

#include "../support/folder.h"

#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::base::test {
namespace {

using racelab::test::Folder;

int errno_of_open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0600);
  const int error = fd < 0 ? errno : 0;
  close(fd);
  return error;
}

TEST(Confinement, BindsRootToPermissionsAndWhatItExecutes) {
  const Folder folder;
  const std::string file = folder / "secret";
  ASSERT_EQ(errno_of_open(file, O_WRONLY | O_CREAT), 0);
  chmod(file.c_str(), 0);
  EXPECT_EQ(errno_when_confined({true, 0}, [&] { return errno_of_open(file, O_RDONLY); }), EACCES);
  const auto cat = [&] { return execl("/bin/cat", "cat", file.c_str(), nullptr); };
  EXPECT_EQ(errno_when_confined({true, 0}, cat), 1); // cat's own status of failure
  if (geteuid() == 0) {
    EXPECT_EQ(errno_when_confined({}, [&] { return errno_of_open(file, O_RDONLY); }), 0);
    EXPECT_EQ(errno_of_open(file, O_RDONLY), 0); // this process has kept its powers
  }
}

TEST(Confinement, LimitsTheSizeOfFilesWithAnErrorInsteadOfASignal) {
  const Folder folder;
  const auto write_two_bytes = [&] {
    const int fd = open((folder / "file").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return write(fd, "a", 1) != 1 ? 99 : write(fd, "b", 1) == 1 ? 0 : errno;
  };
  EXPECT_EQ(errno_when_confined({false, 1}, write_two_bytes), EFBIG);
  EXPECT_EQ(errno_when_confined({}, write_two_bytes), 0);
}

} // namespace
} // namespace racelab::base::test

#include "cache/tree.h"

#include "support.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

timespec mtime_of(const std::string& path) {
  struct stat info {};
  lstat(path.c_str(), &info);
  return info.st_mtim;
}

void set_mtime(const std::string& path, time_t seconds) {
  const timespec times[2] = {{seconds, 0}, {seconds, 123'000'000}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST(CopyOfATree, HasTheSameFilesFoldersAndLinks) {
  const Folder folder;
  put(folder / "from/a", "alpha");
  put(folder / "from/sub/deep/b", std::string(300'000, 'b'));
  put(folder / "from/sub/empty_file", "");
  fs::create_directories(folder / "from/empty");
  fs::create_symlink("sub/deep/b", folder / "from/link");
  fs::create_symlink("nowhere", folder / "from/dangling");
  fs::create_symlink("sub", folder / "from/link_to_folder");
  ASSERT_TRUE(copy_tree(folder / "from", folder / "new/to"));
  EXPECT_THAT(listing(folder / "new/to"), ElementsAre("a", "dangling@", "empty/", "link@", "link_to_folder@", "sub/",
                                                      "sub/deep/", "sub/deep/b", "sub/empty_file"));
  EXPECT_EQ(contents(folder / "new/to/a"), "alpha");
  EXPECT_EQ(contents(folder / "new/to/sub/deep/b"), std::string(300'000, 'b'));
  EXPECT_EQ(contents(folder / "new/to/sub/empty_file"), "");
  EXPECT_EQ(fs::read_symlink(folder / "new/to/link"), "sub/deep/b");
}

TEST(CopyOfATree, HasTheSameModesAndTimes) {
  const Folder folder;
  put(folder / "from/plain", "x");
  put(folder / "from/sub/tool", "x");
  put(folder / "from/sub/secret", "x");
  fs::permissions(folder / "from/sub/tool", fs::perms(0777));
  fs::permissions(folder / "from/sub/secret", fs::perms(0400));
  fs::permissions(folder / "from/sub", fs::perms(0711));
  set_mtime(folder / "from/plain", 1'000'000);
  set_mtime(folder / "from/sub", 2'000'000);
  ASSERT_TRUE(copy_tree(folder / "from", folder / "to"));
  EXPECT_EQ(mode_of(folder / "to/sub/tool"), 0777U);
  EXPECT_EQ(mode_of(folder / "to/sub/secret"), 0400U);
  EXPECT_EQ(mode_of(folder / "to/sub"), 0711U);
  EXPECT_EQ(mtime_of(folder / "to/plain").tv_sec, 1'000'000);
  EXPECT_EQ(mtime_of(folder / "to/plain").tv_nsec, 123'000'000);
  EXPECT_EQ(mtime_of(folder / "to/sub").tv_sec, 2'000'000);
}

TEST(CopyOfATree, IsIndependentOfTheOriginal) {
  const Folder folder;
  put(folder / "from/a", "alpha");
  ASSERT_TRUE(copy_tree(folder / "from", folder / "to"));
  std::ofstream(folder / "to/a", std::ios::app) << " and more";
  EXPECT_EQ(contents(folder / "from/a"), "alpha");
}

TEST(CopyOfATree, WithReadOnlyFoldersIsWholeAndReadOnly) {
  const Folder folder;
  EXPECT_EQ(as_ordinary_user([&] {
              put(folder / "from/sub/a", "alpha");
              fs::permissions(folder / "from/sub", fs::perms(0555));
              if (!copy_tree(folder / "from", folder / "to"))
                return 1;
              return contents(folder / "to/sub/a") == "alpha" && mode_of(folder / "to/sub") == 0555 ? 0 : 2;
            }),
            0);
}

TEST(CopyOfATree, FailsNamingTheFileThatCannotBeRead) {
  const Folder folder;
  put(folder / "from/sub/unreadable", "x");
  EXPECT_EQ(as_ordinary_user([&] {
              put(folder / "mine/sub/unreadable", "x");
              fs::permissions(folder / "mine/sub/unreadable", fs::perms(0));
              const auto copied = copy_tree(folder / "mine", folder / "to");
              return !copied && copied.error().find("mine/sub/unreadable: cannot be copied: Permission denied") ==
                                    folder.path().size() + 1
                         ? 0
                         : 1;
            }),
            0);
}

TEST(CopyOfATree, FailsWhereTheSourceIsNotThere) {
  const Folder folder;
  const auto copied = copy_tree(folder / "nothing", folder / "to");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error(), HasSubstr(folder / "nothing"));
}

TEST(CopyOfATree, FailsRatherThanOverwriteAnything) {
  const Folder folder;
  put(folder / "from/a", "new");
  put(folder / "to/a", "old");
  const auto copied = copy_tree(folder / "from", folder / "to");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error(), HasSubstr(folder / "to/a"));
  EXPECT_EQ(contents(folder / "to/a"), "old");
}

TEST(CopyOfATree, FailsWhereALinkOrFolderCannotBeMade) {
  const Folder folder;
  fs::create_directories(folder / "from");
  fs::create_symlink("x", folder / "from/name");
  put(folder / "from/zzz", "more files come afterwards");
  put(folder / "to/name", "in the way");
  auto copied = copy_tree(folder / "from", folder / "to");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error(), HasSubstr("name"));

  fs::create_directories(folder / "from2/name");
  put(folder / "to2/name", "in the way");
  copied = copy_tree(folder / "from2", folder / "to2");
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error(), HasSubstr("name"));
}

TEST(Measure, CountsFilesAndTheirBytesBelowAFolder) {
  const Folder folder;
  put(folder / "t/a", "12345");
  put(folder / "t/sub/b", "123");
  fs::create_directories(folder / "t/empty");
  EXPECT_EQ(measure(folder / "t").files, 2);
  EXPECT_EQ(measure(folder / "t").bytes, 8);
}

TEST(Measure, CountsLinksAndSpecialFilesAsFilesOfNoSize) {
  const Folder folder;
  put(folder / "elsewhere/big", std::string(1000, 'x'));
  fs::create_directories(folder / "t");
  fs::create_symlink("../elsewhere/big", folder / "t/link");
  fs::create_symlink("../elsewhere", folder / "t/link_to_folder");
  fs::create_symlink("nowhere", folder / "t/dangling");
  ASSERT_EQ(mkfifo((folder / "t/fifo").c_str(), 0600), 0);
  EXPECT_EQ(measure(folder / "t").files, 4);
  EXPECT_EQ(measure(folder / "t").bytes, 0);
}

TEST(Measure, IsZeroForAFolderThatIsNotThere) {
  EXPECT_EQ(measure("/no/such/folder").files, 0);
  EXPECT_EQ(measure("/no/such/folder").bytes, 0);
}

TEST(RemoveTree, RemovesReadOnlyAndClosedFoldersToo) {
  const Folder folder;
  EXPECT_EQ(as_ordinary_user([&] {
              put(folder / "t/sub/deep/a", "x");
              put(folder / "t/b", "x");
              fs::create_directories(folder / "t/closed/inner");
              fs::permissions(folder / "t/closed", fs::perms(0));
              fs::permissions(folder / "t/sub/deep", fs::perms(0555));
              fs::permissions(folder / "t/sub", fs::perms(0555));
              fs::permissions(folder / "t", fs::perms(0555));
              remove_tree(folder / "t");
              return fs::exists(folder / "t") ? 1 : 0;
            }),
            0);
}

TEST(CopyOfATree, OfACacheInUseIsOfWhatIsThere) {
  const Folder folder;
  put(folder / "from/stays", "here");
  std::atomic<bool> stop{false};
  std::jthread writer([&] { // as Triton publishes: a folder comes and goes beside the files
    for (int i = 0; !stop; ++i) {
      const fs::path temporary = folder / ("from/tmp.pid_1_" + std::to_string(i));
      fs::create_directory(temporary);
      std::ofstream(temporary / "file") << "x";
      fs::remove_all(temporary);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const std::string copy = folder / ("copy" + std::to_string(i));
    const auto copied = copy_tree(folder / "from", copy, Vanishing::is_fine);
    EXPECT_TRUE(copied) << copied.error();
    EXPECT_EQ(contents(copy + "/stays"), "here");
  }
  stop = true;
}

TEST(RemoveTree, LeavesWhatLinksPointToAsItIs) {
  const Folder folder;
  EXPECT_EQ(as_ordinary_user([&] {
              put(folder / "outside/file", "x");
              fs::permissions(folder / "outside/file", fs::perms(0444));
              put(folder / "t/sub/a", "x");
              fs::create_symlink(folder / "outside/file", folder / "t/sub/link");
              fs::permissions(folder / "t/sub", fs::perms(0555));
              remove_tree(folder / "t");
              return fs::exists(folder / "t") ? 1 : mode_of(folder / "outside/file") == 0444 ? 0 : 2;
            }),
            0);
}

TEST(RemoveTree, OfNothingDoesNothing) {
  const Folder folder;
  remove_tree(folder / "nothing");
  EXPECT_THAT(listing(folder.path()), ElementsAre());
}

} // namespace
} // namespace racelab::cache::test

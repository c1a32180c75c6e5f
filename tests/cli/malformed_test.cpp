// Every malformed scenario, given to the program itself: exit code 2, the place and the meaning, and no file anywhere.
#include "../scenario/cases.h"
#include "../support/folder.h"

#include "base/files.h"
#include "base/subprocess.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::cli {
namespace {

namespace fs = std::filesystem;

using scenario::test::malformed_cases;
using scenario::test::MalformedCase;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// A working directory and a home that must stay empty, and a scenario elsewhere.
class Malformed : public testing::Test {
protected:
  Malformed() {
    fs::create_directory(m_folder.path() + "/work");
    fs::create_directory(m_folder.path() + "/home");
  }

  base::Captured racelab(std::vector<std::string> arguments) {
    std::vector<std::string> argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", m_folder.path() + "/work",
                                     RACELAB_PROGRAM};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const std::string home = m_folder.path() + "/home";
    const auto ended = base::run_and_capture(
        argv, {{"HOME", home}, {"XDG_CACHE_HOME", home}, {"TMPDIR", home}, {"PATH", "/usr/bin:/bin"}},
        std::chrono::seconds(30));
    EXPECT_TRUE(ended) << ended.error();
    return ended.value_or(base::Captured{-1, "", ""});
  }

  void expect_nothing_written() {
    for (const char* name : {"/work", "/home"})
      EXPECT_TRUE(fs::is_empty(m_folder.path() + name)) << name;
    EXPECT_FALSE(fs::exists(output()));
  }

  void expect_all_refused_by(const std::vector<std::string>& verb) {
    for (const MalformedCase& wrong : malformed_cases()) {
      SCOPED_TRACE(wrong.title);
      ASSERT_TRUE(base::write_file(file(), wrong.text));
      std::vector<std::string> arguments = verb;
      arguments.insert(arguments.begin() + 1, file());
      const base::Captured ended = racelab(arguments);
      EXPECT_EQ(ended.exit_code, 2);
      EXPECT_EQ(ended.out, "");
      EXPECT_THAT(ended.err, AllOf(StartsWith(file() + ":" + wrong.place + ": "), HasSubstr(wrong.message)));
      expect_nothing_written();
    }
  }

  std::string file() const { return m_folder.path() + "/t.yaml"; }
  std::string output() const { return m_folder.path() + "/output"; }

  test::Folder m_folder;
};

TEST_F(Malformed, ScenariosAreRefusedByCheck) {
  expect_all_refused_by({"check"});
}

TEST_F(Malformed, ScenariosAreRefusedByRunBeforeItWritesAnything) {
  expect_all_refused_by({"run", "--output", output()});
}

TEST_F(Malformed, PathsThatAreNoFileAreRefusedByName) {
  const std::string folder = m_folder.path() + "/home";
  for (const std::string& path : {folder, m_folder.path() + "/missing.yaml", std::string("/dev/zero")}) {
    for (const char* verb : {"check", "run"}) {
      const base::Captured ended = racelab({verb, path});
      EXPECT_EQ(ended.exit_code, 2) << path;
      EXPECT_THAT(ended.err, HasSubstr(path));
      expect_nothing_written();
    }
  }
}

} // namespace
} // namespace racelab::cli

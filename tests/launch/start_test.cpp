// How a freshly started program begins and ends.
#include "board/clock.h"
#include "support.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Does this process have "pipe:[123]" open?
bool is_open_here(const std::string& what) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == what)
      return true;
  }
  return false;
}

TEST(Trial, EndsWithTheExitStatusOfItsProgram) {
  for (const int status : {0, 1, 7, 127, 255}) {
    const Folder folder;
    const TrialEnd end = run(shell(folder, "exit " + std::to_string(status)));
    EXPECT_EQ(end.kind, EndKind::exited);
    EXPECT_EQ(end.exit_code, status);
    EXPECT_EQ(end.left_over, 0);
  }
}

TEST(Trial, EndsWithTheSignalThatItsProgramDiesOf) {
  // SIGINT, SIGTERM and SIGPIPE are ignored or handled in racelab and its supervisor; the program has the defaults.
  for (const int number : {SIGSEGV, SIGABRT, SIGKILL, SIGTERM, SIGINT, SIGPIPE}) {
    const Folder folder;
    const TrialEnd end = run(shell(folder, "kill -" + std::to_string(number) + " $$; sleep 30"));
    EXPECT_EQ(end.kind, EndKind::signalled) << number;
    EXPECT_EQ(end.signal, number);
  }
}

TEST(Trial, HasItsOutputInFilesAndTheEndOfStderrAtHand) {
  const Folder folder;
  const TrialSpec spec = shell(folder, "echo to out; echo to err >&2; printf 'no newline'");
  const TrialEnd end = run(spec);
  EXPECT_EQ(contents(spec.stdout_file), "to out\nno newline");
  EXPECT_EQ(contents(spec.stderr_file), "to err\n");
  EXPECT_EQ(end.stderr_tail, "to err\n");
}

TEST(Trial, KeepsTheHeadAndTheEndOfLongOutput) {
  const Folder folder;
  TrialSpec spec = shell(folder, "echo BEGIN; head -c 20000000 /dev/zero | tr '\\0' x; echo END");
  spec.output_limit = 64 * 1024;
  EXPECT_EQ(run(spec).exit_code, 0);
  const std::string text = contents(spec.stdout_file);
  const std::string note =
      "\n[racelab: " + std::to_string(20'000'000 + 6 + 4 - 64 * 1024) + " bytes of output left out here]\n";
  EXPECT_EQ(text.size(), 64 * 1024 + note.size());
  EXPECT_THAT(text, StartsWith("BEGIN\nxxx"));
  EXPECT_EQ(text.substr(text.size() - 5), "xEND\n");
  EXPECT_EQ(text.find(note), std::size_t{32 * 1024});
}

TEST(Trial, OfAProgramThatDoesNotExistIsNotStarted) {
  const Folder folder;
  const TrialEnd end = run(spec_of(folder, {folder / "no-such-program", "x"}));
  EXPECT_EQ(end.kind, EndKind::not_started);
  EXPECT_THAT(end.message, AllOf(HasSubstr(folder / "no-such-program"), HasSubstr("No such file or directory")));
}

TEST(Trial, OfAFileThatIsNoProgramIsNotStarted) {
  const Folder folder;
  const TrialEnd end = run(spec_of(folder, {folder.path()}));
  EXPECT_EQ(end.kind, EndKind::not_started);
  EXPECT_THAT(end.message, HasSubstr("Permission denied"));
}

TEST(Trial, InAFolderThatDoesNotExistIsNotStarted) {
  const Folder folder;
  TrialSpec spec = shell(folder, "exit 0");
  spec.directory = folder / "nowhere";
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::not_started);
  EXPECT_THAT(end.message, HasSubstr(folder / "nowhere"));
}

TEST(Trial, CanBeStartedAgainAfterOneThatCouldNot) {
  const Folder folder;
  EXPECT_EQ(run(spec_of(folder, {folder / "no-such-program"})).kind, EndKind::not_started);
  EXPECT_EQ(run(shell(folder, "exit 3")).exit_code, 3);
}

TEST(Program, HasTheWorkingDirectoryThatWasAskedFor) {
  const Folder folder;
  TrialSpec spec = shell(folder, "pwd -P");
  spec.directory = "/";
  run(spec);
  EXPECT_EQ(contents(spec.stdout_file), "/\n");
}

TEST(Program, HasExactlyTheEnvironmentThatWasAskedForAndItsBoard) {
  const Folder folder;
  TrialSpec spec = spec_of(folder, {"/usr/bin/env"});
  spec.environment = {{"A", "1"}, {"B", "two words"}, {"EMPTY", ""}};
  board::Board board = board::Board::create({});
  run(spec, board);
  struct stat info {};
  ASSERT_EQ(fstat(board.fd(), &info), 0);
  const std::string fd = std::to_string(board.fd());
  EXPECT_EQ(contents(spec.stdout_file), "A=1\nB=two words\nEMPTY=\nRACELAB_BOARD=" + fd + ":" +
                                            std::to_string(info.st_ino) + ":/proc/" + std::to_string(getpid()) +
                                            "/fd/" + fd + "\n");
}

TEST(Program, InheritsTheBoardAndItsOutputAndNothingElseOfRacelab) {
  const Folder folder;
  const TrialSpec spec = shell(folder, "ls -l /proc/$$/fd");
  run(spec);
  const std::string text = contents(spec.stdout_file);
  EXPECT_THAT(text, HasSubstr("0 -> /dev/null"));
  EXPECT_THAT(text, HasSubstr("memfd:racelab-board"));
  EXPECT_THAT(text, Not(HasSubstr("socket:")));
  std::vector<std::string> pipes; // but those that whoever runs this test has left open
  for (std::size_t at = text.find("pipe:"); at != std::string::npos; at = text.find("pipe:", at + 1))
    if (const std::string pipe = text.substr(at, text.find('\n', at) - at); !is_open_here(pipe))
      pipes.push_back(pipe);
  EXPECT_EQ(pipes.size(), 2U) << text;
}

TEST(Trial, KnowsWhatItsProgramUsed) {
  const Folder folder;
  const auto before = board::now_ns();
  const TrialEnd end = run(shell(folder, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"));
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_GT(end.user_s, 0);
  EXPECT_GE(end.wall_s, end.user_s / 2);
  EXPECT_GT(end.max_rss_bytes, 100 * 1024);
  EXPECT_GE(end.start_ns, before);
  EXPECT_LE(end.start_ns, board::now_ns());
}

TEST(FreshStarter, RunsOneTrialAfterTheOther) {
  const Folder folder;
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(run(shell(folder, "exit " + std::to_string(i))).exit_code, i);
}

} // namespace
} // namespace racelab::launch::test

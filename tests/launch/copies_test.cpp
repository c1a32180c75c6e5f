// Several processes of one pipeline, and what confines them.
#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::launch::test {
namespace {

using testing::HasSubstr;

TEST(Copies, AllRunAndKnowTheirNumber) {
  const Folder folder;
  TrialSpec spec = shell(folder, "echo I am ${RACELAB_COPY:-first}");
  spec.copies = 3;
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.exit_code, 0);
  for (const char* line : {"I am first\n", "I am 2\n", "I am 3\n"})
    EXPECT_THAT(contents(spec.stdout_file), HasSubstr(line));
}

TEST(Copies, EndAsTheFirstOneThatFails) {
  const Folder folder;
  TrialSpec spec = shell(folder, "test \"$RACELAB_COPY\" != 2 || exit 7");
  spec.copies = 2;
  EXPECT_EQ(run(spec).exit_code, 7);
  spec = shell(folder, "test \"$RACELAB_COPY\" = 2 && kill -SEGV $$; exit 0");
  spec.copies = 2;
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::signalled);
  EXPECT_EQ(end.signal, SIGSEGV);
}

TEST(Copies, OfAProgramThatIsNotThereAreNotStarted) {
  const Folder folder;
  TrialSpec spec = shell(folder, "");
  spec.argv = {"/nowhere/program"};
  spec.copies = 2;
  const TrialEnd end = run(spec);
  EXPECT_EQ(end.kind, EndKind::not_started);
  EXPECT_THAT(end.message, HasSubstr("/nowhere/program cannot be started"));
}

TEST(Confined, ProgramsCannotWriteLargeFiles) {
  const Folder folder;
  TrialSpec spec = shell(folder, "head -c 2000 /dev/zero > large; stat -c %s large");
  spec.confinement.file_size_limit = 1000;
  run(spec);
  EXPECT_EQ(contents(spec.stdout_file), "1000\n");
  EXPECT_THAT(contents(spec.stderr_file), HasSubstr("File too large"));
}

TEST(Confined, ProgramsAreBoundByPermissions) {
  const Folder folder;
  TrialSpec spec = shell(folder, "echo x > secret; chmod 0 secret; cat secret");
  spec.confinement.without_file_powers = true;
  run(spec);
  EXPECT_THAT(contents(spec.stderr_file), HasSubstr("Permission denied"));
}

} // namespace
} // namespace racelab::launch::test

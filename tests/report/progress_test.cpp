#include "cases.h"
#include "report/display.h"
#include "report/progress.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Progress : public testing::Test {
protected:
  std::unique_ptr<ProgressReporter> make(ProgressKind kind, bool dumb = false) {
    return make_progress(
        kind,
        {.out = &m_out, .now = [this] { return m_now; }, .width = [this] { return m_width; }, .dumb_terminal = dumb});
  }

  // What was written since the last call.
  std::string written() {
    std::string text = m_out.str();
    m_out.str("");
    return text;
  }

  void pass_time(int seconds) { m_now += std::chrono::seconds(seconds); }

  static TrialDone done(int index, std::vector<std::string> faults = {},
                        const std::string& cell = "cold/nested-trace") {
    return {
        .cell = cell, .index = index, .of = 2, .status = result::ScheduleStatus::realised, .faults = std::move(faults)};
  }

  std::ostringstream m_out;
  std::chrono::steady_clock::time_point m_now{std::chrono::seconds(1000)};
  int m_width = 80;
};

TEST_F(Progress, BarWritesOneLineOver) {
  const auto progress = make(ProgressKind::bar);
  progress->begin(4);
  progress->trial_started("cold/nested-trace", 1);
  pass_time(10);
  written();
  progress->trial_done(done(1, {"nested_tracing", "actor_died"}));
  EXPECT_EQ(written(), "\r[1/4] cold × nested-trace, trial 1 · 1 with faults · 10 s, about 30 s left\x1b[K");
  progress->end();
  EXPECT_EQ(written(), "\r\x1b[K");
}

TEST_F(Progress, BarKeepsWithinAWindowThatShrinks) {
  const auto progress = make(ProgressKind::bar);
  progress->begin(4);
  for (const int width : {60, 40, 20, 10, 1}) {
    m_width = width;
    written();
    progress->trial_started("cold/a-very-long-name-of-an-interleaving", 1);
    std::string line = written();
    EXPECT_TRUE(line.starts_with("\r") && line.ends_with("\x1b[K"));
    line = line.substr(1, line.size() - 4);
    EXPECT_LE(columns_of(line), std::max(width - 1, 1)) << line;
    if (width == 40) {
      EXPECT_THAT(line, HasSubstr("… · 0 s")); // the name gave way, not the figures
    }
  }
}

TEST_F(Progress, BarLetsNotesStandAboveIt) {
  const auto progress = make(ProgressKind::bar);
  progress->begin(4);
  progress->trial_started("cold/free", 1);
  written();
  progress->note("filling the warm\x1b cache");
  EXPECT_EQ(written(), "\r\x1b[Kfilling the warm\\x1b cache\n\r[0/4] cold × free, trial 1 · 0 s\x1b[K");
}

TEST_F(Progress, BarClearsItsLineWhenItGoes) {
  auto progress = make(ProgressKind::bar);
  progress->begin(1);
  written();
  progress.reset();
  EXPECT_EQ(written(), "\r\x1b[K");
}

TEST_F(Progress, BarOnADumbTerminalWritesPlainLines) {
  const auto progress = make(ProgressKind::bar, true);
  progress->begin(2);
  progress->trial_started("cold/nested-trace", 1);
  progress->trial_done(done(1));
  progress->trial_done(done(2));
  progress->end();
  const std::string text = written();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_EQ(lines_of(text).size(), 1u);
}

TEST_F(Progress, PlainWritesALinePerFinishedCell) {
  const auto progress = make(ProgressKind::plain);
  progress->begin(4);
  progress->trial_started("cold/nested-trace", 1);
  progress->trial_done(done(1, {"nested_tracing", "nested_tracing"}));
  EXPECT_THAT(written(), IsEmpty());
  pass_time(8);
  progress->trial_done(done(2, {"nested_tracing", "actor_died"}));
  EXPECT_EQ(written(),
            "[2/4] cold × nested-trace: realised 2/2, actor_died 1/2, nested_tracing 2/2 · 8 s, about 8 s left\n");
}

TEST_F(Progress, PlainKnowsFinishedCellsWhenTheirTrialsAreMixed) {
  const auto progress = make(ProgressKind::plain);
  progress->begin(4);
  for (int trial : {1, 2})
    for (const char* cell : {"cold/free", "warm/free"})
      progress->trial_done(done(trial, {}, cell));
  EXPECT_EQ(missing_lines(written(),
                          {R"(^\[3/4\] cold × free: realised 2/2, no faults in 2)", R"(^\[4/4\] warm × free: .*0 s$)"}),
            "");
}

TEST_F(Progress, PlainGivesASignOfLifeEveryTenSeconds) {
  const auto progress = make(ProgressKind::plain);
  progress->begin(4);
  pass_time(9);
  progress->trial_started("cold/free", 1);
  EXPECT_THAT(written(), IsEmpty());
  pass_time(1);
  progress->trial_started("cold/free", 2);
  EXPECT_EQ(written(), "[0/4] cold × free, trial 2 · 10 s\n");
  pass_time(9);
  progress->trial_started("cold/free", 3);
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Progress, GivesLongTimesInMinutes) {
  const auto progress = make(ProgressKind::plain);
  progress->begin(4);
  pass_time(125);
  progress->trial_done(done(1));
  progress->trial_done(done(2));
  EXPECT_THAT(written(), HasSubstr("· 2m 5s, about 2m 5s left\n"));
}

TEST_F(Progress, NoneWritesNothing) {
  const auto progress = make_progress(ProgressKind::none, {});
  progress->begin(1);
  progress->note("x");
  progress->trial_started("cold/free", 1);
  progress->trial_done(done(1));
  progress->end();
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Progress, TakesATrialsEndFromItsResult) {
  const TrialDone trial = trial_done_of("cold/nested-trace", 5, nested_trial(1));
  EXPECT_EQ(trial.cell, "cold/nested-trace");
  EXPECT_EQ(trial.of, 5);
  EXPECT_EQ(trial.faults, std::vector<std::string>{"nested_tracing"});
}

} // namespace
} // namespace racelab::report

#include "cases.h"
#include "report/terminal.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Style columns(int width) {
  return {.color = false, .width = width};
}

class EveryTerminalReport : public testing::TestWithParam<NamedCase> {};

INSTANTIATE_TEST_SUITE_P(Terminal, EveryTerminalReport, testing::ValuesIn(all_cases()),
                         [](const auto& param) { return param.param.name; });

TEST_P(EveryTerminalReport, StaysWithinItsWidth) {
  for (const int width : {40, 60, 80, 100, 160})
    for (const std::string& line : lines_of(render_terminal(GetParam().run, columns(width)))) {
      const bool command =
          line.find("  replay:") == 0 || line.find("  repeat:") == 0 || line.find("results ") != std::string::npos;
      const bool table = width < 80; // five columns of figures need as much
      if (!command && !table) {
        EXPECT_LE(columns_of(line), width) << line;
      }
    }
}

TEST_P(EveryTerminalReport, IsPrintableAndShort) {
  const std::vector<std::string> lines = lines_of(render_terminal(GetParam().run, columns(100)));
  EXPECT_LT(lines.size(), 150u);
  for (const std::string& line : lines) {
    EXPECT_EQ(printable(line), line);
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
}

TEST_P(EveryTerminalReport, SaysTheSameWithColours) {
  const std::string plain = render_terminal(GetParam().run, columns(100));
  std::string coloured = render_terminal(GetParam().run, {.color = true, .width = 100});
  for (std::size_t begin; (begin = coloured.find("\x1b[")) != std::string::npos;)
    coloured.erase(begin, coloured.find('m', begin) - begin + 1);
  EXPECT_EQ(coloured, plain);
}

TEST_P(EveryTerminalReport, NamesEveryCellAndEndsWithTheExitCode) {
  const result::RunResult& run = GetParam().run;
  const std::string text = render_terminal(run, columns(160));
  for (const result::CellResult& cell : run.cells)
    EXPECT_THAT(text, HasSubstr(cell.interleaving));
  EXPECT_THAT(lines_of(text).back(),
              HasSubstr("exit " + std::to_string(run.exit_code) + " (" + run.exit_meaning + ")"));
}

struct Expected {
  std::string name;
  std::vector<std::string> patterns;
};

void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.name;
}

class TerminalPatterns : public testing::TestWithParam<Expected> {};

TEST_P(TerminalPatterns, HoldAt100Columns) {
  EXPECT_EQ(missing_lines(render_terminal(case_named(GetParam().name), columns(100)), GetParam().patterns), "");
}

const std::string k_heading = R"(^  cell +realised +faults)";

INSTANTIATE_TEST_SUITE_P(
    Terminal, TerminalPatterns,
    testing::Values(
        Expected{
            "empty",
            {R"(^toolkit  current: torch 2\.11\.0\+cu130 \(70d99e998b\), triton 3\.6\.0, Python 3\.11\.7, no GPU$)",
             R"(^cache    warm snapshot 3f2a: 40 files)", "no trial was finished",
             R"(^0 cells, 0 trials in 61 s · results reports/runs/20250102-cold · exit 5 \(nothing ran\)$)"}},
        Expected{"ok",
                 {"no GPU$", "^layout   1t3d on CPU$", k_heading + R"( +drafter tok/s \(each\) +total$)",
                  R"(^  cold × one-at-a-time   5/5 +none 0/5 +1\.9 k +1\.9 k +1\.9 k +5\.6 k   ok$)",
                  R"(^Tracer\.trace was entered by$)",
                  R"(^  cold   15 × PythonKeyTracer from compiled call, create_block_mask: 0 of 15$)",
                  R"(^1 cell, 5 trials in 61 s .* exit 0 \(everything expected held\)$)"}},
        Expected{"expected",
                 {R"(^  cold × nested-trace   5/5 +nested_tracing 5/5 +– +– +1\.9 k +5\.6 k   EXPECTED$)",
                  R"(^FAULT nested_tracing in drafter1, cold × nested-trace, trial 1$)",
                  R"(^    #   drafter0 +drafter1 +drafter2$)", R"(^    1   fx\.trace\.enter$)",
                  R"(^    2    +compiled_call\.enter$)",
                  R"(^    3    +RuntimeError: Detected that you are using FX .*…$)", R"(^    4   fx\.trace\.exit$)",
                  R"(^    5    +compiled_call\.enter$)", R"(^  message: RuntimeError: Detected)",
                  R"(^  others:  drafter0 was inside fx\.trace$)",
                  R"(^  replay:  racelab replay reports/runs/20250102-cold/cold-nested-trace\.replay\.json$)"}},
        Expected{"unexpected",
                 {"FAILED$", "^      nested_tracing is not expected and was seen in 5 of 5 trials$",
                  "^FAULT nested_tracing", "^  replay:  racelab replay"}},
        Expected{"unreachable",
                 {R"(^  warm × nested-trace   unreachable   none 0/5 .* ok$)",
                  "^      fx.trace never entered: AOTAutograd cache hit 3 of 3$"}},
        Expected{"impossible",
                 {"   impossible   none 0/5 .* ok$", "^      drafter1 waits for compile_lock, held by drafter0"}},
        Expected{
            "flaky",
            {R"(^  cold × free   – +nested_tracing 3/5 \[0\.23,0\.88\] .* FLAKY$)", "in 3 of 5 trials", "^FAULT "}},
        Expected{"fixed", {R"(nested_tracing 0/5 .* FIXED\?$)", "seen in none: fixed"}},
        Expected{"skipped",
                 {"^  cold × nested-trace   – +skipped$", "^      layout 5t3d requires 2 GPUs, there is none$",
                  R"(^1 cell \(1 skipped\), 0 trials)"}},
        Expected{"unproved",
                 {"   unproved   none 0/5 .* UNPROVED$", "no point of the order was ever hit",
                  R"(exit 7 \(inconclusive\))"}},
        Expected{"many_actors",
                 {R"(drafter tok/s +total$)", R"(1 k…1\.06 k \(62 of 64\))", "^FAULT", "#   drafter0 +drafter1$",
                  "compiled_call.enter", "…   .* more$", "not shown: 62 other actors$"}},
        Expected{"odd_characters", {R"(^      naïve \\x1b\[31mred\\x1b\[0m <b>&"bold"</b> 日本語\\nnext\\tline)"}},
        Expected{"long_messages",
                 {"FAILED$", "^      word0 word1 ", "^      word", "^      word.*…$", "^      xxx", "^      xxx",
                  "^      xxx.*…$", "and 3 more reasons, see result.json$", "^  message: Runtime"}},
        Expected{"wide_names",
                 {"^  torch-2.11-cu130-nightly × version-mismatched × 5-targets-3-drafters ×$",
                  "^    nested-trace-with-backward × no-nested-error$", R"(^      5/5 +nested_tracing 5/5 .* FAILED$)",
                  R"(^      – +nested_tracing 3/5)"}},
        Expected{"mixed_actors", {R"(reader  writer tok/s +total$)", R"( 2\.5 k      20 +5\.6 k   ok$)"}}),
    [](const auto& param) { return param.param.name; });

TEST(TerminalFaults, AreAtMostThreeBlocksUnexpectedOnesFirst) {
  result::RunResult run = case_named("expected");
  for (int i = 0; i < 4; ++i)
    run.cells.push_back(case_named("unexpected").cells[0]);
  const std::string text = render_faults(run, columns(100));
  EXPECT_EQ(missing_lines(text, {"^FAULT", "^FAULT", "^FAULT", "^  2 more faults of this sort: see result.json$"}), "");
  run.cells.resize(3);
  EXPECT_THAT(render_faults(run, columns(100)), Not(HasSubstr("more fault")));
}

TEST(TerminalFaults, ShowAnExpectedKindOnlyOnce) {
  result::RunResult run = case_named("expected");
  run.cells.push_back(run.cells[0]);
  EXPECT_EQ(render_faults(run, columns(100)), render_faults(case_named("expected"), columns(100)));
}

TEST(TerminalFaults, OfferTheCellsCommandWithoutAReplayFile) {
  result::RunResult run = case_named("unexpected");
  run.cells[0].trial_results[0].replay.clear();
  EXPECT_THAT(render_faults(run, columns(100)),
              HasSubstr("\n  repeat:  racelab run scenarios/cold_cache_3drafters.yaml -k cold/nested-trace\n"));
}

TEST(TerminalFaults, QuoteTheReplayFileForAShell) {
  result::RunResult run = case_named("unexpected");
  run.directory = "my runs/it's";
  EXPECT_THAT(render_faults(run, columns(100)),
              HasSubstr(R"(racelab replay 'my runs/it'\''s/cold-nested-trace.replay.json')"));
}

TEST(TerminalFaults, SayHowManyMoreTheTrialHas) {
  result::RunResult run = case_named("unexpected");
  result::TrialResult& trial = run.cells[0].trial_results[0];
  trial.faults.push_back(
      {.kind = "actor_died", .actor = "drafter1", .event = 8, .message = "gone", .stack = "", .others = ""});
  EXPECT_THAT(render_faults(run, columns(100)),
              StartsWith("FAULT nested_tracing in drafter1 (and 1 more), cold × nested-trace"));
}

TEST(TerminalTable, LeavesOutRatesWhereNobodyCountsTokens) {
  result::RunResult run = case_named("ok");
  run.cells[0].tokens_per_s.clear();
  run.cells[0].total_tokens_per_s = {};
  EXPECT_THAT(render_table(run, columns(100)), Not(HasSubstr("tok/s")));
  EXPECT_THAT(render_table(run, columns(100)), Not(HasSubstr("total")));
}

TEST(TerminalTable, FoldsActorsWhereTheWidthDemandsIt) {
  EXPECT_THAT(render_table(case_named("flaky"), columns(120)), HasSubstr("[0.23,0.88]       –      –  1.9 k"));
  EXPECT_THAT(render_table(case_named("flaky"), columns(74)), HasSubstr("1.9 k (1 of 3)"));
}

TEST(TerminalHeader, PutsTheOnlyLayoutBehindTheToolkitWhereItFits) {
  EXPECT_EQ(missing_lines(render_header(case_named("ok"), columns(120)), {"no GPU → layout 1t3d on CPU$", "^cache"}),
            "");
}

TEST(TerminalHeader, ListsLayoutsOnTheirOwnWhereThereAreSeveral) {
  result::RunResult run = case_named("all_together");
  run.cells[1].layout_text = "1t2d on CPU";
  EXPECT_EQ(missing_lines(render_header(run, columns(100)),
                          {"no GPU$", "^layout   1t3d on CPU$", "^layout   1t2d on CPU$", "^cache"}),
            "");
}

TEST(TerminalHeader, CountsGpusAndNamesPointsThatAToolkitLacks) {
  result::RunResult run = case_named("ok");
  run.machine.gpus = {"NVIDIA H200", "NVIDIA H200"};
  run.toolkits[0].missing_points = {{"inductor.lock", "no such module"}};
  run.notes.push_back("Left as it is: no label");
  EXPECT_EQ(missing_lines(render_header(run, columns(120)),
                          {"2 × NVIDIA H200", "^         current lacks the point inductor.lock: no such module$",
                           "^cache ", "^note     Left as it is: no label$"}),
            "");
}

TEST(TerminalTracerEntries, SumUpCellsOfOneCacheState) {
  result::RunResult run = case_named("all_together");
  run.cells[3].tracer_entries = {{"create_block_mask", 0}};
  run.cells[4].tracer_entries.clear();
  const std::string text = render_tracer_entries(run, columns(100));
  EXPECT_EQ(missing_lines(text, {"cold   45 × PythonKeyTracer from compiled call, create_block_mask: 0 of 45",
                                 "warm   create_block_mask: 0 of 0"}),
            "");
  EXPECT_EQ(render_tracer_entries(case_named("skipped"), columns(100)), "");
}

} // namespace
} // namespace racelab::report

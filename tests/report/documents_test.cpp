// JUnit XML and Markdown.
#include "cases.h"
#include "report/display.h"
#include "report/junit.h"
#include "report/markdown.h"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>

namespace racelab::report {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EveryDocument : public testing::TestWithParam<NamedCase> {
protected:
  const result::RunResult& run() const { return GetParam().run; }
};

INSTANTIATE_TEST_SUITE_P(Documents, EveryDocument, testing::ValuesIn(all_cases()),
                         [](const auto& param) { return param.param.name; });

TEST_P(EveryDocument, OfJUnitIsWellFormedAndHasATestPerCell) {
  const std::string text = render_junit(run());
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text.c_str())) << text;
  const pugi::xml_node suites = document.child("testsuites"), suite = suites.child("testsuite");
  EXPECT_STREQ(suite.attribute("name").value(), "cold-cache-3-drafters");
  EXPECT_EQ(suite.attribute("tests").as_uint(), run().cells.size());
  EXPECT_EQ(suites.attribute("tests").as_uint(), run().cells.size());
  auto cell = run().cells.begin();
  for (const pugi::xml_node test : suite.children("testcase"))
    EXPECT_EQ(test.attribute("name").value(), (cell++)->id);
  EXPECT_EQ(cell, run().cells.end());
  EXPECT_LT(text.size(), 100'000u);
}

TEST_P(EveryDocument, OfJUnitHasOnlyCharactersThatXmlAllows) {
  for (const std::string& line : lines_of(render_junit(run()))) {
    EXPECT_EQ(printable(line), line);
    EXPECT_THAT(line, Not(HasSubstr("&#")));
  }
}

TEST_P(EveryDocument, OfMarkdownIsPrintableAndFitsAnIssue) {
  const std::string text = render_markdown(run());
  EXPECT_LT(text.size(), 60'000u); // an issue takes 65,536
  for (const std::string& line : lines_of(text))
    EXPECT_EQ(printable(line), line);
}

TEST_P(EveryDocument, OfMarkdownHasSixColumnsInEveryRowAndClosesItsBlocks) {
  std::string fence;
  for (const std::string& line : lines_of(render_markdown(run()))) {
    const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (fence.empty() && ticks >= 3)
      fence = line.substr(0, ticks);
    else if (line == fence)
      fence.clear();
    else if (fence.empty() && line.starts_with('|')) {
      int bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
      EXPECT_EQ(bars, 7) << line;
    }
  }
  EXPECT_THAT(fence, IsEmpty());
}

struct Expected {
  std::string name;
  std::string element; // below the test case; empty: it passed
  std::string message; // a part of it
  std::vector<std::string> markdown;
};

void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.name;
}

class DocumentPatterns : public testing::TestWithParam<Expected> {};

INSTANTIATE_TEST_SUITE_P(
    Documents, DocumentPatterns,
    testing::Values(
        Expected{"ok",
                 "",
                 "",
                 {R"(^\| `cold × one-at-a-time` \| 5/5 \| `none 0/5` \| 1\.9 k \(3\) \| 5\.6 k \| ok \|$)", "exit 0"}},
        Expected{"expected",
                 "",
                 "",
                 {R"(`nested_tracing 5/5` \| 1\.9 k \(1 of 3\) \| 5\.6 k \| EXPECTED \|$)",
                  "^### Expected fault: `nested_tracing in drafter1, cold × nested-trace, trial 1`$", "^```text$",
                  "#   drafter0", "^```$", "^racelab replay reports/", "^racelab run "}},
        Expected{"unexpected",
                 "failure",
                 "FAILED: nested_tracing is not expected",
                 {R"(\| FAILED \|$)", "^- `cold × nested-trace`: `nested_tracing is not expected",
                  "^### Fault: ", "^racelab replay"}},
        Expected{"unreachable", "", "", {R"(\| unreachable \|)", "AOTAutograd cache hit 3 of 3"}},
        Expected{"impossible", "", "", {R"(\| impossible \|)", "drafter1 waits for compile_lock"}},
        Expected{"flaky",
                 "failure",
                 "FLAKY: nested_tracing in 3 of 5 trials",
                 {R"(`nested_tracing 3/5 \[0\.23,0\.88\]` .* FLAKY)"}},
        Expected{"fixed", "failure", "FIXED?: nested_tracing is expected in every trial", {R"(FIXED\?)"}},
        Expected{"skipped",
                 "skipped",
                 "layout 5t3d requires 2 GPUs",
                 {R"(\| – \|  \| – \| – \| skipped \|)", "requires 2 GPUs"}},
        Expected{"unproved", "error", "no point of the order was ever hit", {R"(\| UNPROVED \|)"}},
        Expected{
            "odd_characters", "failure", R"(naïve \x1b[31mred)", {R"(naïve \\x1b\[31mred)", "^`````text$", "^`````$"}}),
    [](const auto& param) { return param.param.name; });

TEST_P(DocumentPatterns, HoldForJUnit) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(render_junit(case_named(GetParam().name)).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite"), test = suite.child("testcase");
  for (const char* element : {"failure", "error", "skipped"}) {
    const bool wanted = GetParam().element == element;
    EXPECT_EQ(!test.child(element).empty(), wanted) << element;
    const char* count = std::string_view(element) == "failure" ? "failures"
                        : std::string_view(element) == "error" ? "errors"
                                                               : "skipped";
    EXPECT_EQ(suite.attribute(count).as_int(), wanted ? 1 : 0) << element;
    if (wanted) {
      EXPECT_THAT(test.child(element).attribute("message").value(), HasSubstr(GetParam().message));
    }
  }
}

TEST_P(DocumentPatterns, HoldForMarkdown) {
  EXPECT_EQ(missing_lines(render_markdown(case_named(GetParam().name)), GetParam().markdown), "");
}

TEST(JUnit, TellsInAFailureHowToSeeItAgain) {
  EXPECT_EQ(missing_lines(render_junit(case_named("unexpected")),
                          {"<failure .*type=\"failed\"", "^nested_tracing 5/5$", "^FAULT nested_tracing in drafter1",
                           "#   drafter0",
                           "^replay: racelab replay reports/runs/20250102-cold/cold-nested-trace.replay.json$",
                           "^repeat: racelab run "}),
            "");
}

TEST(JUnit, PassesAFlakyFaultThatTheScenarioReckonsWith) {
  result::RunResult run = case_named("flaky");
  run.cells[0].expected = {{"nested_tracing", "any"}};
  EXPECT_THAT(render_junit(run), Not(HasSubstr("<failure")));
}

TEST(JUnit, HasTimesAndProperties) {
  const std::string text = render_junit(case_named("ok"));
  EXPECT_EQ(
      missing_lines(text, {R"(<testsuite .*time="61\.200" timestamp="2025-01-02T03:04:05Z")",
                           R"(<property name="toolkit\.current" value="torch 2\.11\.0)",
                           R"(<testcase classname="cold-cache-3-drafters" name="cold/one-at-a-time" time="7\.500")",
                           R"(<property name="realised" value="5/5")"}),
      "");
}

TEST(Markdown, EscapesBarsInTheTable) {
  result::RunResult run = case_named("ok");
  run.cells[0].id = "cold/a|b";
  EXPECT_THAT(render_markdown(run), HasSubstr("| `cold × a\\|b` |"));
}

} // namespace
} // namespace racelab::report

// A wrong scenario is refused at the right place, with a message that helps.
#include "cases.h"
#include "fixture.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using test::errors_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

using test::malformed_cases;
using test::MalformedCase;

class EveryMalformedScenario : public testing::TestWithParam<MalformedCase> {};

TEST_P(EveryMalformedScenario, is_refused_with_place_and_meaning) {
  const MalformedCase& wrong = GetParam();
  const auto errors = errors_of(wrong.text);
  ASSERT_THAT(errors, SizeIs(1)) << testing::PrintToString(errors);
  EXPECT_THAT(errors[0], StartsWith("t.yaml:" + wrong.place + ": "));
  EXPECT_THAT(errors[0], HasSubstr(wrong.message));
}

INSTANTIATE_TEST_SUITE_P(, EveryMalformedScenario, testing::ValuesIn(malformed_cases()),
                         [](const auto& each) { return each.param.title; });

TEST(MalformedScenario, is_there_in_two_hundred_ways) {
  std::set<std::string> titles, texts;
  for (const MalformedCase& wrong : malformed_cases()) {
    titles.insert(wrong.title);
    texts.insert(wrong.text);
  }
  EXPECT_THAT(texts, SizeIs(titles.size())) << "two cases are the same";
  EXPECT_THAT(texts, SizeIs(testing::Ge(200)));
}

TEST(MalformedScenario, with_more_cells_than_fit_is_refused_before_they_are_made) {
  std::string layouts = "layouts: {", mitigations = "mitigations: {";
  for (int i = 0; i < 400; ++i) {
    layouts += "l" + std::to_string(i) + ": {}, ";
    mitigations += "m" + std::to_string(i) + ": {}, ";
  }
  const auto errors = errors_of(test::k_head + layouts + "}\n" + mitigations + "}\n");
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0], HasSubstr("the matrix has 160000 cells; at most 100000 are possible"));
}

TEST(MalformedScenario, has_all_its_errors_reported_at_once_in_file_order) {
  const auto errors = errors_of(R"(racelab: 1
name: a b
pipelin: {command: [python]}
caches: [cold, cold]
interleavings:
  one: [A fx.trase.enter, fx.trace.exit]
  two: {serialize: compile_lock}
matrix: {interleavings: [one, tow]}
trials: 0
trials: 3
time_limit: 5
expect:
  - when: {cache: warm, layout: x}
    faults: {nested_trasing: always, deadlock: mabye}
)");
  EXPECT_THAT(
      errors,
      ElementsAre(
          StartsWith("t.yaml:1:1: a scenario lacks the key 'pipeline'"), StartsWith("t.yaml:2:7: 'name' must"),
          StartsWith("t.yaml:3:1: unknown key 'pipelin'; did you mean 'pipeline'?"),
          StartsWith("t.yaml:4:16: 'caches' names 'cold' twice"),
          StartsWith("t.yaml:6:9: unknown sync point 'fx.trase.enter'"),
          StartsWith("t.yaml:6:27: event 'fx.trace.exit' names no actor"),
          StartsWith("t.yaml:7:20: 'compile_lock' has no enter and exit"),
          StartsWith("t.yaml:8:31: unknown interleaving 'tow'; did you mean 'two'?"),
          StartsWith("t.yaml:9:9: 'trials' must be"), StartsWith("t.yaml:10:1: duplicate key 'trials'"),
          StartsWith("t.yaml:11:13: 'time_limit' must be"), StartsWith("t.yaml:13:19: unknown cache state 'warm'"),
          StartsWith("t.yaml:13:33: unknown layout 'x' (known: none)"),
          StartsWith("t.yaml:14:14: unknown fault kind 'nested_trasing'; did you mean 'nested_tracing'?"),
          StartsWith(
              "t.yaml:14:48: 'expect[0].faults.deadlock' must be always, never, sometimes or any, not 'mabye'")));
}

TEST(MalformedScenario, does_not_blame_references_to_a_definition_that_is_itself_wrong) {
  const auto errors = errors_of(std::string(test::k_head) + R"(caches: 5
layouts: {a: 3}
interleavings: {i: 7}
matrix: {caches: [warm], layouts: [a], interleavings: [i]}
)");
  EXPECT_THAT(errors, ElementsAre(HasSubstr("'caches' must be"), HasSubstr("'layouts.a' must be"),
                                  HasSubstr("'interleavings.i' must be")));
}

TEST(MalformedScenario, with_thousands_of_errors_reports_the_first_ones) {
  std::string text = test::k_head;
  for (int i = 0; i < 3000; ++i)
    text += "zebra" + std::to_string(i) + ": 1\n";
  const auto errors = errors_of(text);
  EXPECT_THAT(errors, SizeIs(testing::Le(101)));
  EXPECT_THAT(errors.back(), HasSubstr("more errors follow"));
}

} // namespace
} // namespace racelab::scenario

#include "scenario/expand.h"

#include "fixture.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using test::parse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::map<std::string, Features> k_features = {{"current", {{"fx_flag", "global"}}},
                                                    {"old", {{"fx_flag", "thread_local"}}}};

std::vector<std::string> ids_of(const std::vector<Cell>& cells) {
  std::vector<std::string> ids;
  for (const Cell& cell : cells)
    ids.push_back(cell.id);
  return ids;
}

std::string head_with(const std::string& rest) {
  return test::k_head + rest;
}

TEST(Expand, makes_one_cell_of_the_shortest_scenario) {
  const std::vector<Cell> cells = expand(parse(test::k_head), {});
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].id, "cold/free");
  EXPECT_EQ(cells[0].toolkit, "current");
  EXPECT_EQ(cells[0].layout, "none");
  EXPECT_EQ(cells[0].mitigation, "none");
  EXPECT_EQ(cells[0].trials, 3);
}

TEST(Expand, crosses_the_axes_in_a_stable_order_with_interleavings_innermost) {
  const Scenario scenario = parse(head_with(R"(caches: [cold, warm]
layouts: {a: {r: [0]}, b: {r: [1]}}
mitigations: {none: {}, m: {}}
interleavings: {x: none, y: none}
matrix: {toolkits: [t1, t2]}
)"));
  const std::vector<std::string> ids = ids_of(expand(scenario, {}));
  ASSERT_EQ(ids.size(), 32U);
  EXPECT_EQ(ids[0], "cold/x/a/none/t1");
  EXPECT_EQ(ids[1], "cold/y/a/none/t1");
  EXPECT_EQ(ids[2], "cold/x/a/m/t1");
  EXPECT_EQ(ids[4], "cold/x/b/none/t1");
  EXPECT_EQ(ids[8], "warm/x/a/none/t1");
  EXPECT_EQ(ids[16], "cold/x/a/none/t2");
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 32U);
}

TEST(Expand, names_only_the_axes_that_have_a_choice) {
  EXPECT_THAT(ids_of(expand(parse(head_with("mitigations: {none: {}, m: {}}\n")), {})),
              ElementsAre("cold/free/none", "cold/free/m"));
  EXPECT_THAT(ids_of(expand(parse(head_with("matrix: {toolkits: [a, b]}\n")), {})),
              ElementsAre("cold/free/a", "cold/free/b"));
}

TEST(Expand, keeps_ids_when_a_long_axis_gets_longer) {
  const auto two = ids_of(expand(parse(head_with("layouts: {a: {}, b: {}}\n")), {}));
  const auto three = ids_of(expand(parse(head_with("layouts: {a: {}, b: {}, c: {}}\n")), {}));
  EXPECT_THAT(three, testing::IsSupersetOf(two));
}

TEST(Expand, leaves_out_what_is_excluded_by_name_or_by_feature) {
  const std::vector<Cell> cells = expand(parse(test::k_complete), k_features);
  EXPECT_EQ(cells.size(), 2U * 2 * (4 + 3)); // layouts x mitigations x (interleavings of cold + of warm), current only
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.toolkit, "current");
    EXPECT_FALSE(cell.cache == "warm" && cell.interleaving == "one-at-a-time");
  }
}

TEST(Expand, does_not_exclude_by_a_feature_that_is_not_known_of_the_toolkit) {
  EXPECT_EQ(expand(parse(test::k_complete), {}).size(), 2U * 2 * 2 * (4 + 3));
}

TEST(Expand, gives_trials_by_the_last_rule_that_matches) {
  const Scenario scenario = parse(head_with(R"(caches: [cold, warm]
interleavings: {x: none, y: none}
trials: {default: 7, where: [{when: {cache: cold}, trials: 2}, {when: {interleaving: y, cache: [cold]}, trials: 9}]}
)"));
  std::vector<int> trials;
  for (const Cell& cell : expand(scenario, {}))
    trials.push_back(cell.trials);
  EXPECT_THAT(trials, ElementsAre(2, 9, 7, 7));
}

When when_axis(std::vector<std::string> When::*axis, std::vector<std::string> names) {
  When when;
  when.*axis = std::move(names);
  return when;
}

When when_feature(const std::string& feature, std::vector<std::string> values) {
  When when;
  when.features.emplace_back(feature, std::move(values));
  return when;
}

TEST(Matches, needs_one_of_the_values_of_every_key) {
  const Cell cell{"", "current", "cold", "none", "free", "none", 1};
  const Features features = {{"fx_flag", "global"}};
  EXPECT_TRUE(matches({}, cell, features));
  EXPECT_TRUE(matches(when_axis(&When::cache, {"warm", "cold"}), cell, features));
  for (const auto axis : {&When::cache, &When::layout, &When::interleaving, &When::mitigation, &When::toolkit_name})
    EXPECT_FALSE(matches(when_axis(axis, {"other"}), cell, features));
  EXPECT_TRUE(matches(when_feature("fx_flag", {"thread_local", "global"}), cell, features));
  EXPECT_FALSE(matches(when_feature("fx_flag", {"thread_local"}), cell, features));
  EXPECT_FALSE(matches(when_feature("unknown", {"x"}), cell, features));

  When both = when_axis(&When::cache, {"cold"});
  both.layout = {"other"};
  EXPECT_FALSE(matches(both, cell, features));
}

TEST(ExpectationOf, lets_later_rules_override_key_by_key) {
  const Scenario scenario = parse(head_with(R"(caches: [cold, warm]
expect:
  - status: [realised, unreachable]
    faults: {nested_tracing: always, deadlock: any}
    tokens_per_s: {total: {at_least: 5}}
  - when: {cache: cold}
    status: realised
    faults: {nested_tracing: sometimes}
    tokens_per_s: {total: {at_least: 7}, drafter0: {at_least: 1}}
)"));
  const std::vector<Cell> cells = expand(scenario, {});
  const CellExpectation cold = expectation_of(scenario, cells[0], {});
  EXPECT_THAT(cold.status, ElementsAre("realised"));
  EXPECT_THAT(cold.faults, ElementsAre(Pair("nested_tracing", Frequency::sometimes), Pair("deadlock", Frequency::any)));
  ASSERT_EQ(cold.tokens_per_s.size(), 2U);
  EXPECT_DOUBLE_EQ(cold.tokens_per_s[0].at_least, 7);
  const CellExpectation warm = expectation_of(scenario, cells[1], {});
  EXPECT_THAT(warm.status, ElementsAre("realised", "unreachable"));
  EXPECT_THAT(warm.faults[0], Pair("nested_tracing", Frequency::always));
}

TEST(ExpectationOf, says_nothing_without_rules) {
  const Scenario scenario = parse(test::k_head);
  const CellExpectation nothing = expectation_of(scenario, expand(scenario, {})[0], {});
  EXPECT_THAT(nothing.status, IsEmpty());
  EXPECT_THAT(nothing.faults, IsEmpty());
}

TEST(Filter, takes_a_glob_of_the_whole_id_or_a_part_of_it) {
  const std::vector<Cell> cells =
      expand(parse(head_with("caches: [cold, warm]\ninterleavings: {x1: none, x2: none}\n")), {});
  EXPECT_THAT(ids_of(filter(cells, "cold/*")), ElementsAre("cold/x1", "cold/x2"));
  EXPECT_THAT(ids_of(filter(cells, "*2")), ElementsAre("cold/x2", "warm/x2"));
  EXPECT_THAT(ids_of(filter(cells, "x1")), ElementsAre("cold/x1", "warm/x1"));
  EXPECT_THAT(filter(cells, "x?"), IsEmpty());
  EXPECT_EQ(filter(cells, "").size(), 4U);
}

TEST(Find, returns_what_has_the_name) {
  const Scenario scenario = parse(test::k_complete);
  EXPECT_EQ(find_cache(scenario, "warm").kind, CacheKind::warm);
  EXPECT_EQ(find_layout(scenario, "two").required_gpus, 2);
  EXPECT_EQ(find_mitigation(scenario, "inline").env.size(), 1U);
  EXPECT_EQ(find_interleaving(scenario, "partial").events.size(), 4U);
}

TEST(FindDeathTest, does_not_go_on_with_a_name_that_is_not_there) {
  const Scenario scenario = parse(test::k_head);
  EXPECT_DEATH(find_cache(scenario, "lukewarm"), "internal error");
}

} // namespace
} // namespace racelab::scenario

#include "fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using test::errors_of;
using test::parse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(Overrides, replace_a_value) {
  EXPECT_EQ(parse(test::k_complete, {{"trials", "7"}}).trials, 7);
  EXPECT_THAT(parse(test::k_complete, {{"trials", "7"}}).trials_where, IsEmpty());
  EXPECT_EQ(parse(test::k_complete, {{"launch", "fork_server"}}).launch, LaunchMode::fork_server);
  EXPECT_EQ(parse(test::k_complete, {{"time_limit", "5m"}}).time_limit, std::chrono::minutes(5));
}

TEST(Overrides, make_what_is_missing_on_the_way) {
  const Scenario scenario = parse(test::k_head, {{"pipeline.env.X", "1"}, {"trials.default", "9"}});
  EXPECT_THAT(scenario.pipeline.env, ElementsAre(Pair("X", "1")));
  EXPECT_EQ(scenario.trials, 9);
}

TEST(Overrides, have_short_forms_for_the_axes) {
  for (const char* path : {"cache", "caches", "matrix.caches"})
    EXPECT_THAT(parse(test::k_complete, {{path, "warm"}}).matrix.caches, ElementsAre("warm")) << path;
  EXPECT_THAT(parse(test::k_complete, {{"cache", "cold, warm"}}).matrix.caches, ElementsAre("cold", "warm"));
  EXPECT_THAT(parse(test::k_complete, {{"cache", "[cold]"}}).matrix.caches, ElementsAre("cold"));
  EXPECT_THAT(parse(test::k_complete, {{"toolkit", "a,b"}}).matrix.toolkits, ElementsAre("a", "b"));
  EXPECT_THAT(parse(test::k_complete, {{"layout", "two"}}).matrix.layouts, ElementsAre("two"));
  EXPECT_THAT(parse(test::k_complete, {{"mitigations", "inline"}}).matrix.mitigations, ElementsAre("inline"));
  EXPECT_THAT(parse(test::k_complete, {{"interleaving", "free"}}).matrix.interleavings, ElementsAre("free"));
}

TEST(Overrides, reach_keys_with_dots_that_exist_and_any_of_config) {
  const Scenario scenario = parse(test::k_complete, {{"points.queue.put.at", "a:b"},
                                                     {"mitigations.inline.config.torch._dynamo.config.verbose", "true"},
                                                     {"mitigations.inline.config.a.int", "4"}});
  EXPECT_EQ(scenario.points[0].at, "a:b");
  EXPECT_THAT(scenario.mitigations[1].config, testing::Contains(Pair("torch._dynamo.config.verbose", Json(true))));
  EXPECT_THAT(scenario.mitigations[1].config, testing::Contains(Pair("a.int", Json(4))));
}

TEST(Overrides, reach_items_of_a_list) {
  EXPECT_EQ(parse(test::k_complete, {{"pipeline.command.3", "8"}}).pipeline.command[3], "8");
}

TEST(Overrides, apply_in_order) {
  EXPECT_EQ(parse(test::k_head, {{"trials", "7"}, {"trials", "8"}}).trials, 8);
}

TEST(Overrides, do_not_change_what_an_alias_shares) {
  const Scenario scenario = parse(std::string(test::k_head) + "mitigations: {a: &a {env: {X: one}}, b: *a}\n",
                                  {{"mitigations.b.env.X", "two"}});
  EXPECT_THAT(scenario.mitigations[0].env, ElementsAre(Pair("X", "one")));
  EXPECT_THAT(scenario.mitigations[1].env, ElementsAre(Pair("X", "two")));
}

TEST(Overrides, mend_a_value_that_is_wrong_in_the_file) {
  EXPECT_EQ(parse(std::string(test::k_head) + "trials: none\n", {{"trials", "4"}}).trials, 4);
}

TEST(Overrides, are_named_as_the_place_of_their_errors) {
  EXPECT_THAT(errors_of(test::k_head, {{"trials", "many"}}),
              ElementsAre("--set trials=many: 'trials' must be a whole number from 1 to 100000 or a map, not 'many'"));
  EXPECT_THAT(errors_of(test::k_head, {{"cache", "wram"}}),
              ElementsAre("--set cache=wram: unknown cache state 'wram' (known: cold)"));
  EXPECT_THAT(errors_of(test::k_head, {{"trails", "3"}}),
              ElementsAre("--set trails=3: unknown key 'trails'; did you mean 'trials'?"));
  EXPECT_THAT(errors_of(test::k_head, {{"pipeline.envs.X", "3"}}),
              ElementsAre(HasSubstr("--set pipeline.envs.X=3: unknown key 'envs'; did you mean 'env'?")));
}

TEST(Overrides, that_cannot_be_applied_say_why) {
  const auto error = [](const char* path, const char* value) {
    const auto errors = errors_of(test::k_complete, {{path, value}});
    return errors.size() == 1 ? errors[0] : "not one error";
  };
  EXPECT_THAT(error("name.x", "1"), HasSubstr("'name' is a single value and has no key 'x'"));
  EXPECT_THAT(error("pipeline.command.99", "1"),
              HasSubstr("'pipeline.command' is a list of 5; name an item from 0 to 4"));
  EXPECT_THAT(error("pipeline.command.x", "1"), HasSubstr("'pipeline.command' is a list of 5"));
  EXPECT_THAT(error("", "1"), HasSubstr("a path is needed before '='"));
  EXPECT_THAT(error("a..b", "1"), HasSubstr("a path is needed before '='"));
  EXPECT_THAT(error("trials", ""), HasSubstr("--set trials=: the value is empty"));
  EXPECT_THAT(error("trials", "[1"), HasSubstr("--set trials=[1: not valid YAML"));
  EXPECT_THAT(error("pipeline.env", "{A: 1, A: 2}"), HasSubstr("duplicate key 'A'"));
}

} // namespace
} // namespace racelab::scenario

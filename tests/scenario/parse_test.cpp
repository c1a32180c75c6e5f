#include "scenario/parse.h"

#include "fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using test::parse;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Parse, fills_the_defaults_of_the_shortest_scenario) {
  const Scenario scenario = parse(test::k_head);
  EXPECT_EQ(scenario.file, "t.yaml");
  EXPECT_EQ(scenario.directory, "/s");
  EXPECT_EQ(scenario.name, "x");
  EXPECT_EQ(scenario.about, "");
  EXPECT_THAT(scenario.pipeline.command, ElementsAre("python", "train.py"));
  EXPECT_EQ(scenario.pipeline.directory, "/s");
  EXPECT_THAT(scenario.record, IsEmpty());
  EXPECT_FALSE(scenario.tokens);
  ASSERT_EQ(scenario.caches.size(), 1U);
  EXPECT_EQ(scenario.caches[0].name, "cold");
  ASSERT_EQ(scenario.layouts.size(), 1U);
  EXPECT_EQ(scenario.layouts[0].name, "none");
  ASSERT_EQ(scenario.interleavings.size(), 1U);
  EXPECT_EQ(scenario.interleavings[0].name, "free");
  EXPECT_EQ(scenario.interleavings[0].kind, schedule::InterleavingKind::free);
  ASSERT_EQ(scenario.mitigations.size(), 1U);
  EXPECT_EQ(scenario.mitigations[0].name, "none");
  EXPECT_THAT(scenario.matrix.toolkits, ElementsAre("current"));
  EXPECT_THAT(scenario.matrix.caches, ElementsAre("cold"));
  EXPECT_EQ(scenario.trials, 3);
  EXPECT_EQ(scenario.time_limit, std::chrono::seconds(120));
  EXPECT_EQ(scenario.quiet_time, std::chrono::milliseconds(300));
  EXPECT_EQ(scenario.launch, LaunchMode::fork_server);
  EXPECT_EQ(scenario.seed, 0U);
}

TEST(Parse, reads_the_pipeline) {
  const Pipeline pipeline = parse(test::k_complete).pipeline;
  EXPECT_THAT(pipeline.command,
              ElementsAre("python", "../fixtures/x/train.py", "--drafters", "3", "--drafter-devices={layout.drafter}"));
  EXPECT_EQ(pipeline.directory, "/work");
  EXPECT_THAT(pipeline.env, ElementsAre(Pair("NAME", "value"), Pair("COUNT", "3")));
}

TEST(Parse, splits_a_command_of_one_text_as_a_shell_would) {
  const Scenario scenario = parse("racelab: 1\nname: x\npipeline: {command: \"python -c 'import a; a.b()' x\"}\n");
  EXPECT_THAT(scenario.pipeline.command, ElementsAre("python", "-c", "import a; a.b()", "x"));
}

TEST(Parse, reads_points_locks_and_tokens) {
  const Scenario scenario = parse(test::k_complete);
  ASSERT_EQ(scenario.points.size(), 2U);
  EXPECT_EQ(scenario.points[0].name, "queue.put");
  EXPECT_EQ(scenario.points[0].at, "mypkg.queue:HiddenStateQueue.put");
  EXPECT_EQ(scenario.points[0].place, (base::SourcePlace{"t.yaml", 9, 3}));
  EXPECT_EQ(scenario.points[1].at, "__main__:step");
  ASSERT_EQ(scenario.locks.size(), 1U);
  EXPECT_EQ(scenario.locks[0].at, "mypkg.queue:LOCK");
  ASSERT_TRUE(scenario.tokens);
  EXPECT_EQ(scenario.tokens->at, "train:Drafter.step");
  EXPECT_EQ(scenario.tokens->value, "0.tokens");
  EXPECT_THAT(scenario.record, ElementsAre("compiled_call", "fx.trace", "queue.put", "compile_lock", "backend_called"));
}

TEST(Parse, reads_layouts_with_roles_in_file_order) {
  const Scenario scenario = parse(test::k_complete);
  ASSERT_EQ(scenario.layouts.size(), 2U);
  EXPECT_THAT(scenario.layouts[0].roles,
              ElementsAre(Pair("target", ElementsAre(0, 1, 2, 3, 4)), Pair("drafter", ElementsAre(5, 6, 7))));
  EXPECT_EQ(scenario.layouts[0].required_gpus, 0);
  EXPECT_EQ(scenario.layouts[0].logical_devices(), 8);
  EXPECT_EQ(scenario.layouts[1].required_gpus, 2);
  EXPECT_EQ(scenario.layouts[1].logical_devices(), 2);
}

TEST(Parse, reads_a_list_of_events_as_a_chain) {
  const schedule::Interleaving list = parse(test::k_complete).interleavings[0];
  EXPECT_EQ(list.kind, schedule::InterleavingKind::ordered);
  ASSERT_EQ(list.events.size(), 4U);
  EXPECT_EQ(to_string(list.events[2]), "drafter1 compiled_call.exit#2");
  EXPECT_THAT(list.edges, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
}

TEST(Parse, reads_edges_as_a_partial_order_in_which_equal_texts_are_one_event) {
  const schedule::Interleaving partial = parse(test::k_complete).interleavings[1];
  EXPECT_EQ(partial.kind, schedule::InterleavingKind::ordered);
  std::vector<std::string> events;
  for (const schedule::EventRef& event : partial.events)
    events.push_back(to_string(event));
  EXPECT_THAT(events, ElementsAre("A fx.trace.enter", "B compiled_call.enter", "C backend_called", "A fx.trace.exit"));
  EXPECT_THAT(partial.edges, ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
}

TEST(Parse, takes_the_same_event_in_a_list_twice_for_two_passes) {
  const Scenario scenario =
      parse(std::string(test::k_head) + "interleavings: {a: [A backend_called, B backend_called, A backend_called]}\n");
  EXPECT_EQ(scenario.interleavings[0].events.size(), 3U);
}

TEST(Parse, reads_regions_to_serialize) {
  const Scenario scenario = parse(test::k_complete);
  EXPECT_EQ(scenario.interleavings[2].kind, schedule::InterleavingKind::serialize);
  EXPECT_THAT(scenario.interleavings[2].regions, ElementsAre("compiled_call"));
  EXPECT_THAT(scenario.interleavings[3].regions, ElementsAre("compiled_call", "step"));
  EXPECT_EQ(scenario.interleavings[4].kind, schedule::InterleavingKind::free);
}

TEST(Parse, keeps_the_types_of_configuration_values) {
  const Mitigation mitigation = parse(test::k_complete).mitigations[1];
  EXPECT_THAT(mitigation.env, ElementsAre(Pair("A", "b")));
  EXPECT_THAT(mitigation.config,
              ElementsAre(Pair("torch._dynamo.config.error_on_nested_fx_trace", Json(false)), Pair("a.int", Json(-3)),
                          Pair("a.float", Json(1.5)), Pair("a.text", Json("7")), Pair("a.none", Json(nullptr))));
}

TEST(Parse, reads_the_matrix_in_the_order_of_the_file) {
  const Matrix matrix = parse(test::k_complete).matrix;
  EXPECT_THAT(matrix.toolkits, ElementsAre("current", "old"));
  EXPECT_THAT(matrix.caches, ElementsAre("warm", "cold"));
  EXPECT_THAT(matrix.layouts, ElementsAre("5t3d", "two"));
  EXPECT_THAT(matrix.interleavings, ElementsAre("nested-trace", "partial", "one-at-a-time", "free"));
  EXPECT_THAT(matrix.mitigations, ElementsAre("none", "inline"));
  ASSERT_EQ(matrix.exclude.size(), 2U);
  EXPECT_THAT(matrix.exclude[0].cache, ElementsAre("warm"));
  EXPECT_THAT(matrix.exclude[1].features, ElementsAre(Pair("fx_flag", ElementsAre("thread_local"))));
}

TEST(Parse, reads_trials_times_launch_and_seed) {
  const Scenario scenario = parse(test::k_complete);
  EXPECT_EQ(scenario.trials, 5);
  ASSERT_EQ(scenario.trials_where.size(), 1U);
  EXPECT_THAT(scenario.trials_where[0].first.cache, ElementsAre("cold"));
  EXPECT_EQ(scenario.trials_where[0].second, 2);
  EXPECT_EQ(scenario.time_limit, std::chrono::seconds(90));
  EXPECT_EQ(scenario.quiet_time, std::chrono::milliseconds(250));
  EXPECT_EQ(scenario.launch, LaunchMode::fresh);
  EXPECT_EQ(scenario.seed, 18446744073709551615U);
}

TEST(Parse, reads_expectations) {
  const std::vector<Expectation> expect = parse(test::k_complete).expect;
  ASSERT_EQ(expect.size(), 3U);
  EXPECT_THAT(expect[0].status, ElementsAre("realised", "unreachable"));
  EXPECT_THAT(expect[0].when.cache, IsEmpty());
  EXPECT_THAT(expect[1].status, ElementsAre("realised"));
  EXPECT_THAT(expect[1].when.features, ElementsAre(Pair("fx_flag", ElementsAre("global")),
                                                   Pair("is_compiling_leak", ElementsAre("true", "false"))));
  EXPECT_THAT(expect[1].faults,
              ElementsAre(Pair("nested_tracing", Frequency::always), Pair("actor_died", Frequency::any),
                          Pair("deadlock", Frequency::sometimes)));
  ASSERT_EQ(expect[1].tokens_per_s.size(), 2U);
  EXPECT_EQ(expect[1].tokens_per_s[1].who, "drafter0");
  EXPECT_DOUBLE_EQ(expect[1].tokens_per_s[1].at_least, 10.5);
  EXPECT_THAT(expect[2].when.toolkit_name, ElementsAre("current", "old"));
  EXPECT_EQ(expect[2].place.line, 57);
}

TEST(Parse, reads_booleans_of_features_as_python_writes_them_too) {
  const Scenario scenario =
      parse(std::string(test::k_head) +
            "expect: [{when: {toolkit: {is_compiling_leak: [True, FALSE]}}, status: realised}]\n");
  EXPECT_THAT(scenario.expect[0].when.features[0].second, ElementsAre("true", "false"));
}

TEST(Parse, names_caches_that_are_made_from_a_kind) {
  const Scenario scenario = parse(std::string(test::k_head) + "caches: {cold: {from: cold}, mine: {from: warm}}\n");
  ASSERT_EQ(scenario.caches.size(), 2U);
  EXPECT_EQ(scenario.caches[1].name, "mine");
  EXPECT_EQ(scenario.caches[1].kind, CacheKind::warm);
}

TEST(Parse, names_cache_directories_of_the_pipelines_own) {
  const Scenario scenario = parse(std::string(test::k_head) + R"(points: {k.hit: {kind: event}, k.miss: {kind: event}}
cache_directories:
  kernels: {variable: KERNEL_CACHE, layers: {kernel: "*/*.kernel", index: [a, b]}, hit: k.hit, miss: k.miss}
  other: OTHER_CACHE
serial: fx.trace
caches:
  damaged: {from: warm, corrupt: {layer: kernel, how: swap}, without: other}
  gone: {from: cold, vanish_at: "* k.hit#2"}
  two: {from: cold, shared: 2}
)");
  ASSERT_EQ(scenario.cache_directories.size(), 2U);
  EXPECT_EQ(scenario.cache_directories[0].variable, "KERNEL_CACHE");
  EXPECT_THAT(scenario.cache_directories[0].layers[1].second, ElementsAre("a", "b"));
  EXPECT_EQ(scenario.cache_directories[0].hit, "k.hit");
  EXPECT_EQ(scenario.cache_directories[1].layers[0].first, "other");
  EXPECT_TRUE(scenario.points[0].is_moment());
  EXPECT_THAT(scenario.serial, ElementsAre("fx.trace"));
  EXPECT_EQ(scenario.caches[1].vanish_at, (schedule::EventRef{"*", "k.hit", 2}));
  EXPECT_EQ(scenario.caches[2].copies, 2);
}

TEST(Parse, marks_events_that_kill) {
  const Scenario scenario =
      parse(std::string(test::k_head) + "interleavings: {a: [A fx.trace.enter, {A fx.trace.exit: kill}]}\n");
  EXPECT_THAT(scenario.interleavings[0].kills, ElementsAre(1));
  EXPECT_EQ(scenario.interleavings[0].events[1].point, "fx.trace.exit");
}

TEST(Parse, allows_aliases) {
  const Scenario scenario = parse(std::string(test::k_head) + R"(interleavings:
  a: &events [A backend_called]
  b: *events
)");
  EXPECT_EQ(scenario.interleavings[1].events, scenario.interleavings[0].events);
}

TEST(Parse, leaves_braces_alone_that_are_no_placeholders) {
  const Scenario scenario =
      parse("racelab: 1\nname: x\npipeline: {command: [python, '{\"a\": {\"b\": 1}}', '{scenario.dir}/x']}\n");
  EXPECT_EQ(scenario.pipeline.command[1], "{\"a\": {\"b\": 1}}");
}

TEST(Parse, knows_the_number_of_a_role_as_a_placeholder) {
  const Scenario scenario = parse("racelab: 1\nname: x\npipeline: {command: [a, '--n={layout.drafter.count}']}\n"
                                  "layouts: {x: {drafter: [0, 1]}}\n");
  EXPECT_EQ(scenario.pipeline.command[1], "--n={layout.drafter.count}");
}

TEST(Parse, makes_the_call_that_counts_tokens_a_region) {
  const Scenario scenario = parse(std::string(test::k_head) + R"(tokens: {at: "train:step"}
record: [tokens]
interleavings: {a: [A tokens.enter], b: {serialize: tokens}}
)");
  EXPECT_EQ(scenario.interleavings[1].regions.at(0), "tokens");
}

TEST(Parse, has_a_digest_of_the_bytes_alone) {
  const std::string digest = parse(test::k_head).digest;
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(parse(test::k_head, {{"trials", "7"}}).digest, digest);
  EXPECT_NE(parse(std::string(test::k_head) + "# a comment\n").digest, digest);
}

} // namespace
} // namespace racelab::scenario

namespace racelab::scenario {

TEST(OwnFaults, are_kinds_that_rules_may_name) {
  const Scenario scenario = test::parse(std::string(test::k_head) + R"(
faults: {wrong_branch: {output: "tracing branch$"}}
protect: {dead_thread_guard: false}
expect:
  - faults: {wrong_branch: always, nested_tracing: never}
)");
  ASSERT_EQ(scenario.output_faults.size(), 1U);
  EXPECT_EQ(scenario.output_faults[0].name, "wrong_branch");
  EXPECT_EQ(scenario.output_faults[0].pattern, "tracing branch$");
  EXPECT_FALSE(scenario.protect_dead_thread_guard);
}

TEST(OwnFaults, refuse_a_pattern_that_is_none_and_names_that_nobody_defines) {
  const auto errors = test::errors_of(std::string(test::k_head) + R"(
faults: {wrong_branch: {output: "["}}
expect: [{faults: {wrong_brunch: always}}]
)");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_NE(errors[0].find("regular expression"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("did you mean 'wrong_branch'?"), std::string::npos) << errors[1];
}

} // namespace racelab::scenario

// A wrong scenario is refused at the right place, with a message that helps.
#include "fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using test::errors_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

struct Malformed {
  const char* title;
  std::string text; // the whole file, or what follows the head (from line 5) if it does not begin with "racelab" or "["
  const char* place;
  const char* message;
};

void PrintTo(const Malformed& malformed, std::ostream* stream) {
  *stream << malformed.title;
}

class MalformedScenario : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedScenario, is_refused_with_place_and_meaning) {
  const Malformed& wrong = GetParam();
  const bool whole = wrong.text.starts_with("racelab") || wrong.text.starts_with("[") || wrong.text.starts_with("name");
  const auto errors = errors_of(whole ? wrong.text : test::k_head + wrong.text);
  ASSERT_THAT(errors, SizeIs(1)) << testing::PrintToString(errors);
  EXPECT_THAT(errors[0], StartsWith(std::string("t.yaml:") + wrong.place + ": "));
  EXPECT_THAT(errors[0], HasSubstr(wrong.message));
}

std::string title_of(const testing::TestParamInfo<Malformed>& info) {
  return info.param.title;
}

const char* const k_pipeline = "racelab: 1\nname: x\npipeline: ";

INSTANTIATE_TEST_SUITE_P(
    Top, MalformedScenario,
    testing::Values(
        Malformed{"a_list", "[a, b]\n", "1:1", "a scenario must be a map, not a list"},
        Malformed{"no_version", "name: x\npipeline: {command: [a]}\n", "1:1", "a scenario lacks the key 'racelab'"},
        Malformed{"no_name", "racelab: 1\npipeline: {command: [a]}\n", "1:1", "lacks the key 'name'"},
        Malformed{"no_pipeline", "racelab: 1\nname: x\n", "1:1", "lacks the key 'pipeline'"},
        Malformed{"version_2", "racelab: 2\nname: x\npipeline: {command: [a]}\n", "1:10",
                  "'racelab' must be 1, not '2'"},
        Malformed{"version_text", "racelab: '1'\nname: x\npipeline: {command: [a]}\n", "1:10",
                  "must be 1, not the text '1'"},
        Malformed{"name_with_slash", "racelab: 1\nname: a/b\npipeline: {command: [a]}\n", "2:7",
                  "'name' must be a name of"},
        Malformed{"name_dots", "racelab: 1\nname: ..\npipeline: {command: [a]}\n", "2:7", "becomes part of a path"},
        Malformed{"name_empty", "racelab: 1\nname: ''\npipeline: {command: [a]}\n", "2:7", "not the text ''"},
        Malformed{"name_missing_value", "racelab: 1\nname:\npipeline: {command: [a]}\n", "2:1", "not nothing"},
        Malformed{"name_long", "racelab: 1\nname: " + std::string(81, 'n') + "\npipeline: {command: [a]}\n", "2:7",
                  "at most 80"},
        Malformed{"unknown_key", "trails: 3\n", "5:1", "unknown key 'trails'; did you mean 'trials'?"},
        Malformed{"unknown_key_unlike", "zebra: 3\n", "5:1", "unknown key 'zebra' (known: racelab, name, about"},
        Malformed{"duplicate_key", "trials: 3\ntrials: 4\n", "6:1", "duplicate key 'trials' (first on line 5)"},
        Malformed{"trials_zero", "trials: 0\n", "5:9", "a whole number from 1 to 100000 or a map, not '0'"},
        Malformed{"trials_too_many", "trials: 100001\n", "5:9", "from 1 to 100000"},
        Malformed{"trials_fraction", "trials: 1.5\n", "5:9", "a whole number"},
        Malformed{"trials_list", "trials: [1]\n", "5:9", "or a map, not a list"},
        Malformed{"trials_where", "trials: {where: [{when: {cache: cold}}]}\n", "5:18",
                  "'trials.where[0]' lacks the key 'trials'"},
        Malformed{"no_unit", "time_limit: 120\n", "5:13", "with its unit (ms, s, m, h), not '120'"},
        Malformed{"wrong_unit", "time_limit: 2 minutes\n", "5:13", "must be a duration from 100ms to 1440m"},
        Malformed{"too_short", "time_limit: 1ms\n", "5:13", "must be a duration from 100ms"},
        Malformed{"quiet_is_longer", "time_limit: 1s\nquiet_time: 2s\n", "6:13",
                  "quiet_time (2s) must be shorter than time_limit (1s)"},
        Malformed{"launch", "launch: forkserver\n", "5:9",
                  "must be fork_server or fresh, not 'forkserver'; did you mean 'fork_server'?"},
        Malformed{"seed_negative", "seed: -1\n", "5:7", "'seed' must be a whole number from 0"},
        Malformed{"seed_too_large", "seed: 18446744073709551616\n", "5:7", "not '18446744073709551616'"},
        Malformed{"seed_octal", "seed: 007\n", "5:7", "'seed' must be a whole number"}),
    title_of);

INSTANTIATE_TEST_SUITE_P(
    Pipeline, MalformedScenario,
    testing::Values(
        Malformed{"empty", std::string(k_pipeline) + "{}\n", "3:11", "'pipeline' lacks the key 'command'"},
        Malformed{"text", std::string(k_pipeline) + "python\n", "3:11", "'pipeline' must be a map, not 'python'"},
        Malformed{"empty_command", std::string(k_pipeline) + "{command: []}\n", "3:21",
                  "'pipeline.command' must not be empty"},
        Malformed{"blank_command", std::string(k_pipeline) + "{command: ' '}\n", "3:21", "must be text or a list"},
        Malformed{"empty_program", std::string(k_pipeline) + "{command: ['', a]}\n", "3:21", "the program, is empty"},
        Malformed{"open_quote", std::string(k_pipeline) + "{command: \"a 'b\"}\n", "3:21",
                  "a quote in the command is never closed"},
        Malformed{"list_in_command", std::string(k_pipeline) + "{command: [a, [b]]}\n", "3:25",
                  "'pipeline.command[1]' must be text, not a list"},
        Malformed{"env_name", std::string(k_pipeline) + "{command: [a], env: {A-B: 1}}\n", "3:32",
                  "'A-B' in 'pipeline.env' must be the name of an environment variable"},
        Malformed{"env_map", std::string(k_pipeline) + "{command: [a], env: {A: {b: c}}}\n", "3:35",
                  "'pipeline.env.A' must be text, not a map"},
        Malformed{"env_null", std::string(k_pipeline) + "{command: [a], env: {A: }}\n", "3:35",
                  "must be text, not nothing"},
        Malformed{"no_such_role",
                  std::string(k_pipeline) + "{command: [a, '{layout.drafter}']}\nlayouts: {x: {draftr: [0]}}\n", "3:25",
                  "layout 'x' has no role 'drafter', which '{layout.drafter}' needs; did you mean 'draftr'?"},
        Malformed{"no_layouts", std::string(k_pipeline) + "{command: 'a --x={layout.a}'}\n", "3:21",
                  "layout 'none' has no role 'a'"},
        Malformed{"placeholder", std::string(k_pipeline) + "{command: [a], env: {B: '{scenario.dri}'}}\n", "3:35",
                  "unknown placeholder '{scenario.dri}'"},
        Malformed{"open_placeholder", std::string(k_pipeline) + "{command: [a, '{layout.x']}\n", "3:25",
                  "is never closed"}),
    title_of);

INSTANTIATE_TEST_SUITE_P(
    Code, MalformedScenario,
    testing::Values(
        Malformed{"at_without_colon", "points: {p: {at: a.b}}\n", "5:18",
                  "'points.p.at' must be a place in code such as"},
        Malformed{"at_with_blank", "points: {p: 'a:b c'}\n", "5:13", "(MODULE:ATTRIBUTE) or a map"},
        Malformed{"at_and_line", "points: {p: {at: 'a:b', line: 'a.py:1'}}\n", "5:13", "it may have 1 at most"},
        Malformed{"line_number", "points: {p: {line: a.py}}\n", "5:20", "a line of a file such as train.py:120"},
        Malformed{"line_zero", "points: {p: {line: 'a.py:0'}}\n", "5:20", "a line of a file such as train.py:120"},
        Malformed{"event_of_line", "points: {p: {line: 'a.py:1'}}\ninterleavings: {i: [a p.enter]}\n", "6:21",
                  "unknown sync point 'p.enter'"},
        Malformed{"empty_actor", "actors: {a: {}}\n", "5:13", "must not be empty"},
        Malformed{"actor_key", "actors: {a: {entri: 'a:b'}}\n", "5:14", "did you mean 'entry'"},
        Malformed{"actor_start", "actors: {a: {start: -1}}\n", "5:21", "a whole number from 0"},
        Malformed{"point_name", "points: {p..q: 'a:b'}\n", "5:10", "'p..q' in 'points' must be a name such as"},
        Malformed{"built_in_point", "points: {fx.trace: 'a:b'}\n", "5:10", "'fx.trace' is built in already"},
        Malformed{"built_in_lock", "locks: {compile_lock: 'a:b'}\n", "5:9", "'compile_lock' is built in already"},
        Malformed{"point_and_lock", "points: {p: 'a:b'}\nlocks: {p: 'a:c'}\n", "6:9", "'p' is a point already"},
        Malformed{"token_path", "tokens: {at: 'a:b', value: 'x[0]'}\n", "5:28", "a path into a value such as"},
        Malformed{"tokens_without_at", "tokens: {value: x}\n", "5:9",
                  "tokens come from a call (`at`) or from the output"},
        Malformed{"tokens_twice", "tokens: {at: 'a:b', output: '(x)'}\n", "5:9", "give one"},
        Malformed{"tokens_regex", "tokens: {output: '(x'}\n", "5:18", "an ECMAScript regular expression"},
        Malformed{"tokens_group", "tokens: {output: 'tok x'}\n", "5:18", "has 0 groups in parentheses"},
        Malformed{"tokens_actor", "tokens: {output: '(x)', actor: 2}\n", "5:32", "there is no group 2 for 'actor'"},
        Malformed{"tokens_mixed", "tokens: {output: '(x)', value: y}\n", "5:32", "'value' goes with `at`"},
        Malformed{"unknown_record", "record: [fx.trase]\n", "5:10",
                  "unknown point or lock 'fx.trase'; did you mean 'fx.trace'? (racelab list points)"},
        Malformed{"record_twice", "record: [fx.trace, fx.trace]\n", "5:20", "'record' names 'fx.trace' twice"}),
    title_of);

INSTANTIATE_TEST_SUITE_P(
    Axes, MalformedScenario,
    testing::Values(
        Malformed{"cache_kind", "caches: [cold, hot]\n", "5:16", "'caches[1]' must be cold or warm, not 'hot'"},
        Malformed{"no_caches", "caches: []\n", "5:9", "'caches' must not be empty"},
        Malformed{"cache_twice", "caches: [cold, cold]\n", "5:16", "'caches' names 'cold' twice"},
        Malformed{"cache_from", "caches: {a: {from: wram}}\n", "5:20", "did you mean 'warm'?"},
        Malformed{"cache_false_name", "caches: {cold: {from: warm}}\n", "5:10",
                  "a cache state named 'cold' must be from cold"},
        Malformed{"cache_name", "caches: {'a b': {from: warm}}\n", "5:10", "'a b' in 'caches' must be a name of"},
        Malformed{"layout_gpu", "layouts: {a: {r: [-1]}}\n", "5:19",
                  "'layouts.a.r[0]' must be a whole number from 0 to 1023"},
        Malformed{"layout_role", "layouts: {a: {r: 0}}\n", "5:18", "'layouts.a.r' must be a list, not '0'"},
        Malformed{"layout_no_gpus", "layouts: {a: {r: []}}\n", "5:18", "must not be empty"},
        Malformed{"layout_require", "layouts: {a: {require: {}}}\n", "5:24", "lacks the key 'gpus'"},
        Malformed{"layout_name", "layouts: {a/b: {}}\n", "5:11", "'a/b' in 'layouts' must be a name of"},
        Malformed{"mitigation_key", "mitigations: {a: {envs: {}}}\n", "5:19",
                  "unknown key 'envs'; did you mean 'env'?"},
        Malformed{"mitigation_path", "mitigations: {a: {config: {verbose: 1}}}\n", "5:28", "must be a dotted path"},
        Malformed{"mitigation_value", "mitigations: {a: {config: {a.b: [1]}}}\n", "5:33",
                  "must be a single value, not a list"},
        Malformed{"matrix_cache", "matrix: {caches: [warm]}\n", "5:19", "unknown cache state 'warm' (known: cold)"},
        Malformed{"matrix_layout", "layouts: {abc: {}}\nmatrix: {layouts: abd}\n", "6:19",
                  "unknown layout 'abd'; did you mean 'abc'?"},
        Malformed{"matrix_mitigation", "matrix: {mitigations: [x]}\n", "5:24", "unknown mitigation 'x' (known: none)"},
        Malformed{"matrix_interleaving", "matrix: {interleavings: [fre]}\n", "5:26",
                  "unknown interleaving 'fre'; did you mean 'free'?"},
        Malformed{"matrix_toolkit", "matrix: {toolkits: [a/b]}\n", "5:21", "'matrix.toolkits[0]' must be a name of"},
        Malformed{"matrix_empty", "matrix: {caches: []}\n", "5:18", "'matrix.caches' must not be empty"},
        Malformed{"matrix_twice", "matrix: {caches: [cold, cold]}\n", "5:25", "names 'cold' twice"},
        Malformed{"exclude_all", "matrix: {exclude: [{}]}\n", "5:20", "'matrix.exclude[0]' must not be empty"},
        Malformed{"exclude_key", "matrix: {exclude: [{caches: cold}]}\n", "5:21",
                  "unknown key 'caches'; did you mean 'cache'?"}),
    title_of);

INSTANTIATE_TEST_SUITE_P(
    Interleavings, MalformedScenario,
    testing::Values(
        Malformed{"unknown_point", "interleavings:\n  a:\n    - A fx.trase.enter\n", "7:7",
                  "unknown sync point 'fx.trase.enter'; did you mean 'fx.trace.enter'? (racelab list points)"},
        Malformed{"no_actor", "interleavings: {a: [fx.trace.enter]}\n", "5:21",
                  "names no actor: write 'ACTOR fx.trace.enter'"},
        Malformed{"region_as_event", "interleavings: {a: [A fx.trace]}\n", "5:21",
                  "'fx.trace' is no event; write fx.trace.enter or fx.trace.exit"},
        Malformed{"lock_as_event", "interleavings: {a: [A compile_lock]}\n", "5:21",
                  "'compile_lock' is no event; write compile_lock.wanted, compile_lock.taken or compile_lock.released"},
        Malformed{"hit_zero", "interleavings: {a: ['A fx.trace.enter#0']}\n", "5:21", "no valid hit number"},
        Malformed{"map_as_event", "interleavings: {a: [{A: fx.trace.enter}]}\n", "5:21",
                  "'interleavings.a[0]' must be an event 'ACTOR POINT', not a map"},
        Malformed{"empty_list", "interleavings: {a: []}\n", "5:20", "'interleavings.a' must not be empty"},
        Malformed{"wrong_word", "interleavings: {a: nothing}\n", "5:20",
                  "must be a list, a map or none, not 'nothing'"},
        Malformed{"twice", "interleavings:\n  a:\n    - A fx.trace.enter#1\n    - A fx.trace.enter#1\n", "8:7",
                  "listed twice, but happens once (first on line 7)"},
        Malformed{"hits_backwards", "interleavings: {a: ['A fx.trace.enter#2', 'A fx.trace.enter#1']}\n", "5:17",
                  "form a circle: A fx.trace.enter#2 < A fx.trace.enter#1 < A fx.trace.enter#2"},
        Malformed{
            "circle",
            "interleavings: {a: {edges: [A fx.trace.enter < B fx.trace.enter, B fx.trace.enter < A fx.trace.enter]}}\n",
            "5:17",
            "interleaving 'a' cannot happen, its events form a circle: A fx.trace.enter < B fx.trace.enter < A"},
        Malformed{"circle_of_one", "interleavings: {a: {edges: [A fx.trace.enter < A fx.trace.enter]}}\n", "5:17",
                  "form a circle"},
        Malformed{"no_order", "interleavings: {a: {edges: [A fx.trace.enter]}}\n", "5:29", "orders nothing"},
        Malformed{"half_order", "interleavings: {a: {edges: [A fx.trace.enter < ]}}\n", "5:29", "an event is missing"},
        Malformed{"edge_point", "interleavings: {a: {edges: [A fx.trace.enter < B fx.trace.exti]}}\n", "5:29",
                  "did you mean 'fx.trace.exit'?"},
        Malformed{"edges_and_serialize",
                  "interleavings: {a: {edges: [A fx.trace.enter < B fx.trace.exit], serialize: fx.trace}}\n", "5:20",
                  "'interleavings.a' has 2 keys; it may have 1 at most"},
        Malformed{"no_form", "interleavings: {a: {}}\n", "5:20", "must not be empty"},
        Malformed{"serialize_unknown", "interleavings: {a: {serialize: compiled_cal}}\n", "5:32",
                  "unknown region 'compiled_cal'; did you mean 'compiled_call'?"},
        Malformed{"serialize_lock", "interleavings: {a: {serialize: [compile_lock]}}\n", "5:33",
                  "'compile_lock' has no enter and exit"},
        Malformed{"serialize_event", "interleavings: {a: {serialize: fx.trace.enter}}\n", "5:32",
                  "'fx.trace.enter' has no enter and exit"},
        Malformed{"name", "interleavings: {a b: none}\n", "5:17", "'a b' in 'interleavings' must be a name of"},
        Malformed{"long_actor", "interleavings: {a: [" + std::string(81, 'A') + " fx.trace.enter]}\n", "5:21",
                  "more than 80 characters"}),
    title_of);

INSTANTIATE_TEST_SUITE_P(
    Expect, MalformedScenario,
    testing::Values(
        Malformed{"a_map", "expect: {status: realised}\n", "5:9", "'expect' must be a list, not a map"},
        Malformed{"vacuous", "expect: [{when: {cache: cold}}]\n", "5:10", "this rule expects nothing"},
        Malformed{"status", "expect: [{status: realized}]\n", "5:19",
                  "must be realised, unreachable, impossible or diverged"},
        Malformed{"fault_kind", "expect: [{faults: {nested_trace: always}}]\n", "5:20",
                  "unknown fault kind 'nested_trace'; did you mean 'nested_tracing'?"},
        Malformed{"frequency", "expect: [{faults: {deadlock: often}}]\n", "5:30",
                  "must be always, never, sometimes or any, not 'often'"},
        Malformed{"bound", "expect: [{tokens_per_s: {total: {at_least: 0}}}]\n", "5:44",
                  "must be a number above 0, not '0'"},
        Malformed{"bound_nan", "expect: [{tokens_per_s: {total: {at_least: .nan}}}]\n", "5:44",
                  "must be a number above 0"},
        Malformed{"bound_missing", "expect: [{tokens_per_s: {total: {}}}]\n", "5:33", "lacks the key 'at_least'"},
        Malformed{"bound_as_number", "expect: [{tokens_per_s: {total: 5}}]\n", "5:33",
                  "'expect[0].tokens_per_s.total' must be a map, not '5'"},
        Malformed{"when_cache", "expect: [{when: {cache: warm}, status: realised}]\n", "5:25",
                  "unknown cache state 'warm'"},
        Malformed{"when_key", "expect: [{when: {caches: cold}, status: realised}]\n", "5:18", "did you mean 'cache'?"},
        Malformed{"when_empty", "expect: [{when: {}, status: realised}]\n", "5:17",
                  "'expect[0].when' must not be empty"},
        Malformed{"feature", "expect: [{when: {toolkit: {fx_flg: global}}, status: realised}]\n", "5:28",
                  "unknown feature 'fx_flg'; did you mean 'fx_flag'?"},
        Malformed{"feature_value", "expect: [{when: {toolkit: {fx_flag: globl}}, status: realised}]\n", "5:37",
                  "global or thread_local"},
        Malformed{"status_twice", "expect: [{status: [realised, realised]}]\n", "5:30", "names 'realised' twice"}),
    title_of);

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

#include "fixture.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace racelab::scenario::test {

const Vocabulary& vocabulary() {
  static const Vocabulary k_vocabulary = {
      {"fx.trace.enter", "fx.trace.exit", "compiled_call.enter", "compiled_call.exit", "compile_lock.wanted",
       "compile_lock.taken", "compile_lock.released", "cache.rename.enter", "backend_called"},
      {"fx.trace", "compiled_call"},
      {"compile_lock"},
      {"nested_tracing", "actor_died", "deadlock"},
      {"fx-graph", "aot"},
      {"truncate-half", "swap"},
      {{"inductor", "TORCHINDUCTOR_CACHE_DIR"}},
      {{"fx_flag", {"global", "thread_local"}}, {"is_compiling_leak", {"true", "false"}}}};
  return k_vocabulary;
}

const char* const k_complete = R"(racelab: 1
name: cold_cache_3drafters
about: Several drafters compile at once.
pipeline:
  command: [python, ../fixtures/x/train.py, --drafters, 3, "--drafter-devices={layout.drafter}"]
  cwd: ../work
  env: {NAME: value, COUNT: 3}
points:
  queue.put: {at: "mypkg.queue:HiddenStateQueue.put"}
  step: "__main__:step"
locks: {queue_lock: {at: "mypkg.queue:LOCK"}}
tokens: {at: "train:Drafter.step", value: 0.tokens}
record: [compiled_call, fx.trace, queue.put, compile_lock, backend_called]
caches: [cold, warm]
layouts:
  5t3d: {target: [0, 1, 2, 3, 4], drafter: [5, 6, 7]}
  two: {require: {gpus: 2}, target: [0], drafter: [1, 1]}
interleavings:
  nested-trace:
    - drafter0 fx.trace.enter
    - drafter1 queue.put.enter
    - "drafter1 compiled_call.exit#2"
    - drafter0 queue_lock.taken
  partial:
    edges:
      - A fx.trace.enter < B compiled_call.enter
      - B compiled_call.enter < C backend_called < A fx.trace.exit
  one-at-a-time: {serialize: compiled_call}
  both: {serialize: [compiled_call, step]}
  free: none
mitigations:
  none: {}
  inline:
    env: {A: b}
    config: {torch._dynamo.config.error_on_nested_fx_trace: false, a.int: -3, a.float: 1.5, a.text: "7", a.none: ~}
matrix:
  toolkits: [current, old]
  caches: [warm, cold]
  interleavings: [nested-trace, partial, one-at-a-time, free]
  exclude:
    - {cache: warm, interleaving: one-at-a-time}
    - toolkit: {fx_flag: thread_local}
trials:
  default: 5
  where:
    - {when: {cache: cold}, trials: 2}
time_limit: 90s
quiet_time: 250ms
launch: fresh
seed: 18446744073709551615
expect:
  - status: [realised, unreachable]
  - when: {cache: cold, interleaving: [nested-trace], toolkit: {fx_flag: global, is_compiling_leak: [true, false]}}
    status: realised
    faults: {nested_tracing: always, actor_died: any, deadlock: sometimes}
    tokens_per_s: {total: {at_least: 100}, drafter0: {at_least: 10.5}}
  - when: {toolkit: [current, old], layout: two, mitigation: inline}
    faults: {nested_tracing: never}
)";

const char* const k_head = R"(racelab: 1
name: x
pipeline:
  command: [python, train.py]
)";

Scenario parse(const std::string& text, const std::vector<Override>& overrides) {
  auto scenario = parse_scenario(text, "t.yaml", "/s", vocabulary(), overrides);
  if (!scenario) {
    for (const base::Diagnostic& diagnostic : scenario.error())
      ADD_FAILURE() << to_string(diagnostic);
    return {};
  }
  return *scenario;
}

std::vector<std::string> errors_of(const std::string& text, const std::vector<Override>& overrides) {
  std::vector<std::string> errors;
  const auto scenario = parse_scenario(text, "t.yaml", "/s", vocabulary(), overrides);
  if (!scenario)
    for (const base::Diagnostic& diagnostic : scenario.error())
      errors.push_back(to_string(diagnostic));
  return errors;
}

} // namespace racelab::scenario::test

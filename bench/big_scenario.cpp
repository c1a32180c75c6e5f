// Reading a scenario and expanding it to 10,000 cells: 50 interleavings, 20 mitigations, 5 layouts, 2 cache states.
#include "scenario/expand.h"
#include "scenario/parse.h"

#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace racelab::bench {

namespace {

std::string big_scenario() {
  std::string text = "racelab: 1\nname: big\npipeline: {command: [python, train.py]}\ncaches: [cold, warm]\nlayouts:\n";
  for (int i = 1; i <= 5; ++i) {
    text += fmt::format("  l{}: {{target: [0], drafter: [{}]}}\n", i, i);
  }
  text += "interleavings:\n";
  for (int i = 0; i < 50; ++i) {
    text += fmt::format("  order{}:\n", i);
    for (int event = 0; event < 6; ++event) {
      text += fmt::format("    - drafter{} fx.trace.{}\n", event % 3, event < 3 ? "enter" : "exit");
    }
  }
  text += "mitigations:\n";
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("  m{}: {{env: {{M: \"{}\"}}}}\n", i, i);
  }
  text += "expect:\n";
  for (int i = 0; i < 20; ++i) {
    text += fmt::format("  - when: {{mitigation: m{}}}\n    faults: {{nested_tracing: any}}\n", i);
  }
  return text;
}

void parse_and_expand(benchmark::State& state) {
  const std::string text = big_scenario();
  scenario::Vocabulary words;
  words.points = {"fx.trace.enter", "fx.trace.exit"};
  words.regions = {"fx.trace"};
  words.fault_kinds = {"nested_tracing"};
  std::size_t expected = 0;
  for (auto _ : state) {
    const auto scenario = scenario::parse_scenario(text, "big.yaml", "/", words);
    if (!scenario) {
      state.SkipWithError(scenario.error().front().message.c_str());
      return;
    }
    const auto cells = scenario::expand(*scenario, {});
    for (const scenario::Cell& cell : cells) {
      expected += scenario::expectation_of(*scenario, cell, {}).faults.size();
    }
    if (cells.size() != 10'000 || expected == 0) {
      state.SkipWithError("not 10,000 cells that expect something");
      return;
    }
  }
}
BENCHMARK(parse_and_expand)->Name("scenario/10000_cells")->Iterations(1)->Unit(benchmark::kMillisecond);

} // namespace

} // namespace racelab::bench

// An armed point that nobody waits at, through the C interface: the trial lists other events, and logs this one.
#include "agent/racelab.h"
#include "bench/cores.h"

#include <benchmark/benchmark.h>

namespace racelab::bench {

namespace {

void armed_point(benchmark::State& state) {
  const OnCore pinned(0);
  racelab_actor("bench");
  const int point = racelab_point_id("armed");
  if (point < 0) {
    state.SkipWithError("runs under --on-board only");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(racelab_point(point));
  }
}
// The log has room for 262,144 events; all repetitions of one run share it.
BENCHMARK(armed_point)->Name("armed_point/c")->Iterations(10'000)->Unit(benchmark::kNanosecond);

} // namespace

} // namespace racelab::bench

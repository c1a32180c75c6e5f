#include "run/warm_cache.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"

#include <fmt/format.h>

namespace racelab::run {

namespace {

std::string describe(const cache::SnapshotStore::Snapshot& snapshot) {
  return fmt::format("warm snapshot {}…: {} files, {}", snapshot.key.substr(0, 4), snapshot.size.files,
                     base::format_bytes(static_cast<unsigned long long>(snapshot.size.bytes)));
}

// One actor at a time inside whatever compiles: the step that makes tokens where the scenario knows it, since a
// backward compiles outside of the compiled call.
schedule::Interleaving serial_order(const scenario::Scenario& scenario) {
  schedule::Interleaving serial;
  serial.name = "serial";
  serial.kind = schedule::InterleavingKind::serialize;
  if (!scenario.serial.empty()) {
    serial.regions = scenario.serial;
    return serial;
  }
  serial.regions = {scenario.tokens && !scenario.tokens->at.empty() ? "tokens" : "compiled_call"};
  return serial;
}

[[noreturn]] void fail(const TrialOutcome& outcome, const std::string& folder) {
  const auto& fault = outcome.result.faults.front();
  throw base::UserError(
      base::ExitCode::environment,
      fmt::format("the warm cache cannot be filled: the serial run itself fails ({}{}: {}); its files are in {}",
                  fault.kind, fault.actor.empty() ? "" : " in " + fault.actor, fault.message.substr(0, 300), folder));
}

} // namespace

std::string warm_cache_key(const CellContext& context, const scenario::Scenario& scenario) {
  std::string key = snapshot_key(context, scenario.pipeline.directory);
  for (const auto& own : scenario.cache_directories) {
    key = base::digest(key + "|" + own.name + "|" + own.variable);
  }
  for (const std::string& region : scenario.serial) {
    key = base::digest(key + "|" + region);
  }
  if (!scenario.results) {
    return key;
  }
  const auto& r = *scenario.results;
  return base::digest(fmt::format("{}|{}|{}|{}|{}|{}", key, r.at, r.value, r.output, r.number_group, r.actor_group));
}

WarmCache warm_cache_for(TrialRunner& trials, const CellContext& context, const scenario::Scenario& scenario,
                         const std::string& folder, const std::function<void()>& before_filling) {
  cache::SnapshotStore store(trials.snapshot_folder());
  const std::string key = warm_cache_key(context, scenario);
  WarmCache warm;
  if (const auto kept = store.find(key)) {
    warm.snapshot = *kept;
    warm.note = describe(*kept) + ", kept from an earlier run";
    return warm;
  }
  before_filling();
  CellContext cold = context;
  cold.cache = {"cold", scenario::CacheKind::cold, {}};
  const schedule::Interleaving serial = serial_order(scenario);
  const std::string filling = folder + "/caches-filled";
  std::string filled_at;
  cache::remove_tree(filling); // of a racelab that was killed
  const auto outcome = trials.run({.context = cold,
                                   .interleaving = serial,
                                   .folder = folder,
                                   .sources = {},
                                   .fills_cache = true,
                                   .keep_caches = [&](const std::string& filled) {
                                     filled_at = filled;
                                     if (const auto copied = cache::copy_tree(filled, filling); !copied) {
                                       throw base::UserError(base::ExitCode::environment, copied.error());
                                     }
                                   }});
  if (outcome.end == result::EndKind::interrupted) {
    warm.interrupted = true;
  } else if (!outcome.result.faults.empty()) {
    cache::remove_tree(filling);
    fail(outcome, folder);
  } else {
    warm.snapshot =
        store.publish(key, filling, outcome.result.wall_s,
                      fmt::format("{} (torch {}), {}", context.toolkit.name, context.toolkit.torch, scenario.name),
                      outcome.results, filled_at);
    warm.filled_now = true;
    warm.note = fmt::format("{}, filled serially in {:.1f} s", describe(warm.snapshot), outcome.result.wall_s);
  }
  cache::remove_tree(filling);
  return warm;
}

} // namespace racelab::run

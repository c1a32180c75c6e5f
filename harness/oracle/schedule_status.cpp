#include "oracle/oracle.h"

#include "base/assert.h"
#include "base/text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace racelab::oracle {

using result::BoardState;
using result::ScheduleStatus;
using result::TrialRecord;
using schedule::InterleavingKind;

namespace {

// "drafter1 waits for compile_lock, held by drafter0", "drafter0 is parked at fx.trace.exit and waits for drafter1 …".
std::string clause(const result::Wait& wait) {
  switch (wait.kind) {
  case result::WaitKind::for_lock:
    return fmt::format("{} waits for {}, held by {}", wait.actor, wait.lock, wait.other);
  case result::WaitKind::for_event:
    return fmt::format("{} is parked at {}, waiting for {}", wait.actor, wait.parked_at, wait.awaited_event);
  case result::WaitKind::for_region:
    return fmt::format("{} is parked at {} until {} has left", wait.actor, wait.parked_at, wait.other);
  }
  return {};
}

std::string cycle_text(const std::vector<result::Wait>& cycle) {
  std::vector<std::string> clauses;
  for (const result::Wait& wait : cycle) {
    clauses.push_back(clause(wait));
  }
  // A lock first: that is what the reader can look up.
  const auto lock = std::find_if(cycle.begin(), cycle.end(),
                                 [](const result::Wait& w) { return w.kind == result::WaitKind::for_lock; });
  if (lock != cycle.end()) {
    std::rotate(clauses.begin(), clauses.begin() + (lock - cycle.begin()), clauses.end());
  }
  return base::join(clauses, "; ");
}

std::string cache_explanation(const TrialRecord& trial) {
  const auto all = counters(trial);
  const auto count = [&](const char* name) {
    const auto at = all.find(name);
    return at == all.end() ? std::int64_t{0} : at->second;
  };
  const std::int64_t aot_hits = count("aot_autograd.autograd_cache_hit"),
                     aot_misses = count("aot_autograd.autograd_cache_miss");
  const std::int64_t fx_hits = count("inductor.fxgraph_cache_hit"), fx_misses = count("inductor.fxgraph_cache_miss");
  if (aot_hits + aot_misses > 0) {
    return fmt::format("AOTAutograd cache hit {} of {}", aot_hits, aot_hits + aot_misses);
  }
  return fx_hits + fx_misses > 0 ? fmt::format("FX-graph cache hit {} of {}", fx_hits, fx_hits + fx_misses)
                                 : std::string();
}

const result::ActorRecord* find_actor(const TrialRecord& trial, const std::string& name) {
  const auto at = std::find_if(trial.actors.begin(), trial.actors.end(), [&](const auto& a) { return a.name == name; });
  return at == trial.actors.end() ? nullptr : &*at;
}

std::string missing_place(const TrialRecord& trial, const std::string& event) {
  for (const auto& [place, message] : missing_places(trial)) {
    if (event == place || event.rfind(place + ".", 0) == 0) {
      return message;
    }
  }
  return {};
}

// Why the first step that did not happen did not happen.
std::string unreachable_text(const TrialRecord& trial, const result::StepState& step) {
  const std::string missing = missing_place(trial, step.point);
  if (!missing.empty()) {
    return fmt::format("{}: the point does not exist here: {}", step.event, missing);
  }
  const result::ActorRecord* actor = find_actor(trial, step.actor);
  if (actor == nullptr || !actor->appeared) {
    std::vector<std::string> names;
    for (const auto& other : trial.actors) {
      if (other.appeared) {
        names.push_back(other.name);
      }
    }
    return fmt::format("{}: no thread named '{}' appeared{}; the pipeline's threads were {}", step.event, step.actor,
                       base::did_you_mean(step.actor, names), names.empty() ? "none" : base::join(names, ", "));
  }
  std::string text = step.times_hit == 0 ? fmt::format("{} never came to {}", step.actor, step.point)
                                         : fmt::format("{} ended after coming to {} {} time{}", step.actor, step.point,
                                                       step.times_hit, step.times_hit == 1 ? "" : "s");
  const std::string cache = cache_explanation(trial);
  return cache.empty() ? text : text + ": " + cache;
}

const result::StepState* first_open_step(const TrialRecord& trial) {
  if (trial.stuck_step >= 0 && trial.stuck_step < static_cast<int>(trial.steps.size())) {
    return &trial.steps[static_cast<std::size_t>(trial.stuck_step)];
  }
  const auto at = std::find_if(trial.steps.begin(), trial.steps.end(), [](const auto& s) { return !s.done; });
  return at == trial.steps.end() ? nullptr : &*at;
}

ScheduleFinding ordered_status(const TrialRecord& trial, const schedule::Interleaving& interleaving) {
  if (trial.board == BoardState::complete) {
    const std::string wrong = check_order(trial.events, interleaving);
    return wrong.empty() ? ScheduleFinding{ScheduleStatus::realised, ""}
                         : ScheduleFinding{ScheduleStatus::diverged, wrong};
  }
  if (trial.board == BoardState::impossible) {
    return {ScheduleStatus::impossible, cycle_text(trial.cycle)};
  }
  const result::StepState* step = first_open_step(trial);
  RACELAB_ASSERT(step != nullptr);
  const result::ActorRecord* actor = find_actor(trial, step->actor);
  if (trial.board == BoardState::stalled && actor != nullptr && actor->appeared) {
    return {ScheduleStatus::impossible, trial.stalled_because};
  }
  return {ScheduleStatus::unreachable, unreachable_text(trial, *step)};
}

ScheduleFinding serialized_status(const TrialRecord& trial, const schedule::Interleaving& interleaving) {
  if (trial.board == BoardState::impossible) {
    return {ScheduleStatus::impossible, cycle_text(trial.cycle)};
  }
  if (trial.board == BoardState::stalled) {
    return {ScheduleStatus::impossible, trial.stalled_because};
  }
  std::set<std::string> entered;
  for (const auto& event : trial.events) {
    for (const std::string& region : interleaving.regions) {
      if (event.kind == result::EventKind::pass && event.point.rfind(region + ".", 0) == 0) {
        entered.insert(event.actor);
      }
    }
  }
  if (entered.empty()) {
    return {ScheduleStatus::unproved, "no actor came to " + base::join(interleaving.regions, " or ")};
  }
  return {ScheduleStatus::realised, ""};
}

} // namespace

std::map<std::string, std::string> missing_places(const TrialRecord& trial) {
  std::map<std::string, std::string> missing;
  for (const auto& fact : trial.facts) {
    if (fact.value("fact", "") == "point_missing") {
      missing[fact.value("point", "?")] = fact.value("message", "");
    }
  }
  for (const auto& fact : trial.facts) {
    if (fact.value("fact", "") == "point_installed") {
      missing.erase(fact.value("point", "?"));
    }
  }
  return missing;
}

std::string check_order(const std::vector<result::Event>& events, const schedule::Interleaving& interleaving) {
  const int n = static_cast<int>(interleaving.events.size());
  std::vector<int> position(static_cast<std::size_t>(n), -1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const result::Event& event = events[i];
    if (event.kind != result::EventKind::pass || event.step < 0 || event.step >= n) {
      continue;
    }
    const schedule::EventRef& asked = interleaving.events[static_cast<std::size_t>(event.step)];
    if (asked.actor != event.actor || asked.point != event.point ||
        (asked.hit != 0 && static_cast<unsigned>(asked.hit) != event.hit)) {
      return fmt::format("event {} of the log is {} {}#{}, not {}", i, event.actor, event.point, event.hit,
                         schedule::to_string(asked));
    }
    position[static_cast<std::size_t>(event.step)] = static_cast<int>(i);
  }
  for (int i = 0; i < n; ++i) {
    if (position[static_cast<std::size_t>(i)] < 0) {
      return schedule::to_string(interleaving.events[static_cast<std::size_t>(i)]) + " is not in the log";
    }
  }
  for (const auto& [before, after] : interleaving.edges) {
    if (position[static_cast<std::size_t>(before)] >= position[static_cast<std::size_t>(after)]) {
      return fmt::format("{} came after {}", schedule::to_string(interleaving.events[static_cast<std::size_t>(before)]),
                         schedule::to_string(interleaving.events[static_cast<std::size_t>(after)]));
    }
  }
  return {};
}

ScheduleFinding schedule_status(const TrialRecord& trial, const schedule::Interleaving& interleaving) {
  if (trial.end.kind == result::EndKind::not_started) {
    return {ScheduleStatus::unproved, "the pipeline did not start: " + trial.end.message};
  }
  if (trial.attached == 0) {
    return {ScheduleStatus::unproved,
            "no process of the pipeline loaded racelab's agent (an interpreter run with -I, -E or -S, "
            "or a program that does not link it)"};
  }
  if (interleaving.kind == InterleavingKind::free) {
    return {ScheduleStatus::free, ""};
  }
  return interleaving.kind == InterleavingKind::ordered ? ordered_status(trial, interleaving)
                                                        : serialized_status(trial, interleaving);
}

} // namespace racelab::oracle

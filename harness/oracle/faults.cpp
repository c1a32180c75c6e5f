#include "oracle/oracle.h"

#include "base/regex.h"
#include "base/text.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <regex>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace racelab::oracle {

using result::EndKind;
using result::Fault;
using result::Json;
using result::TrialRecord;

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds{
      {"nested_tracing",
       "a compiled call met the tracing flag of another thread: torch raised, or ran it uncompiled (inline)"},
      {"stuck_flag", "the tracing flag is set while no thread traces"},
      {"silent_eager", "a compiled call ran uncompiled and said nothing: inlined, recompile limit, eager attention"},
      {"actor_died", "a thread ended with an exception"},
      {"compile_error", "a compiled call raised anything else"},
      {"crash", "a signal ended the pipeline"},
      {"deadlock", "known locks wait for each other in a cycle"},
      {"hang", "nothing moved any more"},
      {"time_limit", "the trial was still running at its time limit"},
      {"exit_status", "the pipeline ended with a status other than 0, and no exception explains it: none of "
                      "actor_died, compile_error or nested_tracing was raised"},
      {"wrong_result", "a result is not that of a serial run of the same cell with a cold cache"},
      {"slow", "tokens/s below what the scenario expects"},
  };
  return kinds;
}

namespace {

std::string text(const Json& fact, const char* key) {
  return fact.contains(key) && fact[key].is_string() ? fact[key].get<std::string>() : std::string();
}

int event_of(const Json& fact) {
  return fact.contains("event") && fact["event"].is_number() ? fact["event"].get<int>() : -1;
}

// The event that was the last before the fact, for facts that name none.
int event_at_time(const TrialRecord& trial, std::int64_t time_ns) {
  int index = -1;
  for (std::size_t i = 0; i < trial.events.size() && trial.events[i].time_ns <= time_ns; ++i) {
    index = static_cast<int>(i);
  }
  return index;
}

// "drafter0 parked at fx.trace.exit", "drafter2 after compiled_call.exit": everybody else at that event.
std::string others_at(const TrialRecord& trial, int event, const std::string& actor) {
  std::string doing;
  for (const auto& other : trial.actors) {
    if (other.name == actor || !other.appeared) {
      continue;
    }
    std::string what;
    for (int i = 0; i <= event && i < static_cast<int>(trial.events.size()); ++i) {
      const result::Event& e = trial.events[static_cast<std::size_t>(i)];
      if (e.actor != other.name) {
        continue;
      }
      what = e.kind == result::EventKind::parked      ? "parked at " + e.point
             : e.kind == result::EventKind::pass      ? "after " + e.point
             : e.kind == result::EventKind::actor_end ? "ended"
                                                      : what;
    }
    if (!what.empty()) {
      doing += (doing.empty() ? "" : "; ") + other.name + " " + what;
    }
  }
  return doing;
}

class Collector {
public:
  explicit Collector(const TrialRecord& trial) : m_trial(trial) {}

  void add(const std::string& kind, const std::string& actor, int event, const std::string& message,
           const std::string& stack = {}) {
    const std::string key_text = message.substr(0, 80);
    if (!m_seen.insert({kind, actor, key_text}).second) {
      return;
    }
    m_faults.push_back({kind, actor, event, message, stack, others_at(m_trial, event, actor)});
  }

  std::vector<Fault> take() { return std::move(m_faults); }
  void add_exception(const std::string& kind, const std::string& actor, int event, const Json& fact) {
    add(kind, actor, event, text(fact, "type") + ": " + text(fact, "message"), text(fact, "traceback"));
    m_any_exception = true;
  }
  bool any_exception() const { return m_any_exception; }

private:
  const TrialRecord& m_trial;
  std::set<std::tuple<std::string, std::string, std::string>> m_seen;
  std::vector<Fault> m_faults;
  bool m_any_exception = false;
};

void add_fact(const TrialRecord& trial, const Json& fact, Collector& found) {
  const std::string kind = text(fact, "fact"), actor = text(fact, "actor");
  const int event = event_of(fact) >= 0 ? event_of(fact) : event_at_time(trial, fact.value("time", std::int64_t{0}));
  if (kind == "nested_tracing" && text(fact, "form") == "raised") {
    found.add_exception(kind, actor, event, fact);
  } else if (kind == "nested_tracing") {
    const std::string call = "a call of " + text(fact, "function");
    found.add(kind, actor, event, call + " met the tracing flag of another thread and was inlined, without an error");
    found.add("silent_eager", actor, event, call + " ran uncompiled: inlined under another thread's trace");
  } else if (kind == "compiled_call_raised") {
    found.add_exception("compile_error", actor, event, fact);
  } else if (kind == "thread_died") {
    found.add_exception("actor_died", actor, event, fact);
  } else if (kind == "stuck_flag") {
    found.add(kind, actor, event, "the tracing flag is set and no thread traces, seen at " + text(fact, "where"));
  } else if (kind == "silent_eager") {
    found.add(kind, actor, event, text(fact, "cause") + ": " + text(fact, "message"));
  }
}

// A process that the scenario has killed did not crash.
bool was_killed_on_purpose(const TrialRecord& trial) {
  return trial.end.signal == SIGKILL &&
         std::any_of(trial.steps.begin(), trial.steps.end(), [](const auto& step) { return step.kills && step.done; });
}

void add_end(const TrialRecord& trial, Collector& found) {
  const auto& end = trial.end;
  // Before the actors were ended with their process: what they were doing then is what explains it.
  int last = static_cast<int>(trial.events.size()) - 1;
  while (end.kind != EndKind::exited && last >= 0 &&
         trial.events[static_cast<std::size_t>(last)].kind == result::EventKind::actor_end) {
    --last;
  }
  switch (end.kind) {
  case EndKind::signalled: {
    if (was_killed_on_purpose(trial)) {
      break;
    }
    const char* name = strsignal(end.signal);
    found.add("crash", "", last, fmt::format("signal {} ({})", end.signal, name != nullptr ? name : "?"), trial.stacks);
    break;
  }
  case EndKind::deadlock:
  case EndKind::hang:
  case EndKind::time_limit: {
    std::string message = end.message;
    for (const auto& wait : trial.cycle) {
      if (end.kind == EndKind::deadlock) {
        message += fmt::format("; {} waits for {}, held by {}", wait.actor, wait.lock, wait.other);
      }
    }
    const char* kind = end.kind == EndKind::deadlock ? "deadlock" : end.kind == EndKind::hang ? "hang" : "time_limit";
    found.add(kind, "", last, message, trial.stacks);
    break;
  }
  case EndKind::exited:
    if (end.exit_code != 0 && !found.any_exception()) {
      found.add("exit_status", "", last, fmt::format("the pipeline ended with status {}", end.exit_code),
                trial.stderr_tail);
    }
    break;
  case EndKind::interrupted:
  case EndKind::not_started:
    break;
  }
}

} // namespace

std::vector<Fault> faults(const TrialRecord& trial) {
  Collector found(trial);
  for (const Json& fact : trial.facts) {
    add_fact(trial, fact, found);
  }
  add_end(trial, found);
  return found.take();
}

std::vector<Fault> output_faults(const std::string& output, const std::vector<scenario::OutputFault>& kinds) {
  constexpr std::size_t k_max_line = 2000; // std::regex recurses over what it matches
  std::vector<Fault> found;
  for (const auto& kind : kinds) {
    const std::regex pattern = base::make_regex(kind.pattern);
    for (const std::string& line : base::split(output, '\n')) {
      const std::string start = line.substr(0, k_max_line);
      if (std::regex_search(start, pattern)) {
        found.push_back({kind.name, "", -1, "the output says: " + start, "", ""});
        break;
      }
    }
  }
  return found;
}

std::vector<Fault> slow_faults(const result::TrialResult& trial, const std::vector<scenario::ThroughputBound>& bounds) {
  std::vector<Fault> slow;
  for (const auto& bound : bounds) {
    double rate = bound.who == "total" ? trial.total_tokens_per_s : 0;
    for (const auto& actor : trial.throughput) {
      if (actor.actor == bound.who) {
        rate = actor.steady_tokens_per_s;
      }
    }
    if (rate < bound.at_least) {
      slow.push_back(
          {"slow", bound.who == "total" ? "" : bound.who, -1,
           fmt::format("{} made {:.1f} tokens/s, at least {:.1f} were expected", bound.who, rate, bound.at_least), "",
           ""});
    }
  }
  return slow;
}

} // namespace racelab::oracle

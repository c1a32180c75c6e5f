// Figures from a trial's record: tokens/s, counters, who traced.
#include "oracle/oracle.h"

#include <algorithm>
#include <cmath>

namespace racelab::oracle {

using result::ActorThroughput;
using result::EventKind;
using result::TrialRecord;

namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// First step's end, last step's end and tokens after the first step, of one actor.
struct Steps {
  std::int64_t first_begin = -1, first_end = -1, last_end = -1;
  std::int64_t first_tokens = 0, tokens = 0;
};

std::map<std::string, Steps> steps_by_actor(const TrialRecord& trial) {
  std::map<std::string, Steps> all;
  for (const auto& event : trial.events) {
    if (event.kind == EventKind::pass && event.point == "tokens.enter") {
      Steps& s = all[event.actor];
      s.first_begin = s.first_begin < 0 ? event.time_ns : s.first_begin;
    } else if (event.kind == EventKind::tokens) {
      Steps& s = all[event.actor];
      if (s.first_end < 0) {
        s.first_end = event.time_ns;
        s.first_tokens = event.tokens;
      }
      s.last_end = event.time_ns;
      s.tokens += event.tokens;
    }
  }
  for (const auto& line : trial.token_lines) {
    Steps& s = all[line.actor];
    if (s.first_end < 0) {
      s.first_end = line.time_ns;
      s.first_tokens = std::llround(line.number);
    }
    s.last_end = line.time_ns;
    s.tokens += std::llround(line.number);
  }
  return all;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The program's own figures: of each actor the median of its lines, the first left out where there are more.
std::map<std::string, double> reported_rates(const TrialRecord& trial) {
  std::map<std::string, std::vector<double>> all;
  for (const auto& line : trial.token_lines) {
    all[line.actor].push_back(line.number);
  }
  std::map<std::string, double> rates;
  for (auto& [actor, values] : all) {
    if (values.size() > 1) {
      values.erase(values.begin());
    }
    rates[actor] = median(values);
  }
  return rates;
}

} // namespace

std::vector<ActorThroughput> throughput(const TrialRecord& trial) {
  std::vector<ActorThroughput> all;
  if (trial.token_lines_are_rates) {
    for (const auto& [actor, rate] : reported_rates(trial)) {
      if (!actor.empty()) {
        all.emplace_back().actor = actor;
        all.back().steady_tokens_per_s = rate;
      }
    }
    return all;
  }
  for (const auto& [actor, s] : steps_by_actor(trial)) {
    if (actor.empty()) {
      continue; // lines that speak of all
    }
    ActorThroughput t;
    t.actor = actor;
    t.tokens = s.tokens;
    if (s.first_end >= 0 && s.first_begin >= 0) {
      t.first_step_s = seconds(s.first_end - s.first_begin);
    }
    if (s.last_end > s.first_end && s.first_end >= 0) {
      t.steady_tokens_per_s = static_cast<double>(s.tokens - s.first_tokens) / seconds(s.last_end - s.first_end);
    }
    const auto record = std::find_if(trial.actors.begin(), trial.actors.end(),
                                     [&, &who = actor](const auto& a) { return a.name == who; });
    t.waited_s = record == trial.actors.end() ? 0 : seconds(record->waited_ns);
    all.push_back(t);
  }
  return all;
}

double total_tokens_per_s(const TrialRecord& trial) {
  if (trial.token_lines_are_rates) {
    double sum = 0;
    for (const auto& [actor, rate] : reported_rates(trial)) {
      sum += rate;
    }
    return sum;
  }
  std::int64_t begin = -1, end = -1, tokens = 0;
  for (const auto& [actor, s] : steps_by_actor(trial)) {
    if (s.last_end <= s.first_end) {
      continue;
    }
    begin = begin < 0 ? s.first_end : std::min(begin, s.first_end);
    end = std::max(end, s.last_end);
    tokens += s.tokens - s.first_tokens;
  }
  return end > begin ? static_cast<double>(tokens) / seconds(end - begin) : 0;
}

std::map<std::string, std::int64_t> counters(const TrialRecord& trial) {
  std::map<std::string, std::int64_t> sum;
  for (const auto& fact : trial.facts) {
    if (fact.value("fact", "") != "counters" || !fact.contains("counters") || !fact["counters"].is_object()) {
      continue;
    }
    for (const auto& [group, values] : fact["counters"].items()) {
      for (const auto& [name, value] : values.items()) {
        if (value.is_number_integer()) {
          sum[group + "." + name] += value.template get<std::int64_t>();
        }
      }
    }
  }
  return sum;
}

std::map<std::string, int> tracer_entries(const TrialRecord& trial) {
  std::map<std::string, int> sum;
  bool looked = false, mask = false;
  for (const auto& fact : trial.facts) {
    if (fact.value("fact", "") != "tracer_entries" || !fact.contains("entries")) {
      continue;
    }
    looked = true;
    for (const auto& entry : fact["entries"]) { // [thread, tracer, led by, count]
      if (entry.is_array() && entry.size() == 4) {
        const std::string by = entry[2].get<std::string>();
        mask = mask || by == "create_block_mask";
        sum[entry[1].get<std::string>() + " from " + by] += entry[3].get<int>();
      }
    }
  }
  if (looked && !mask) {
    sum["create_block_mask"] = 0;
  }
  return sum;
}

} // namespace racelab::oracle

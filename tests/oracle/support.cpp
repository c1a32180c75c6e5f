#include "support.h"

#include <algorithm>

namespace racelab::oracle::test {

schedule::Interleaving in_order(const std::vector<std::string>& events) {
  schedule::Interleaving interleaving;
  interleaving.kind = schedule::InterleavingKind::ordered;
  for (const std::string& event : events)
    interleaving.events.push_back(schedule::parse_event(event).value());
  interleaving.edges = schedule::chain_edges(static_cast<int>(events.size()));
  return interleaving;
}

schedule::Interleaving serialized(const std::vector<std::string>& regions) {
  schedule::Interleaving interleaving;
  interleaving.kind = schedule::InterleavingKind::serialize;
  interleaving.regions = regions;
  return interleaving;
}

result::Event pass(const std::string& text, int step, std::int64_t time_ns) {
  const schedule::EventRef parsed = schedule::parse_event(text).value();
  result::Event made = event(result::EventKind::pass, parsed.actor, parsed.point, time_ns);
  made.hit = static_cast<unsigned>(parsed.hit);
  made.step = step;
  return made;
}

result::Event event(result::EventKind kind, const std::string& actor, const std::string& point, std::int64_t time_ns) {
  result::Event made;
  made.kind = kind;
  made.actor = actor;
  made.point = point;
  made.time_ns = time_ns;
  return made;
}

result::Event tokens(const std::string& actor, std::int64_t count, std::int64_t time_ns) {
  result::Event made = event(result::EventKind::tokens, actor, {}, time_ns);
  made.tokens = count;
  return made;
}

result::TrialRecord trial_of(const schedule::Interleaving& interleaving, result::BoardState board) {
  result::TrialRecord trial = free_trial();
  trial.board = board;
  for (const auto& asked : interleaving.events)
    trial.steps.push_back({schedule::to_string(asked), asked.actor, asked.point, false, 0});
  for (const std::string& actor : schedule::named_actors(interleaving))
    trial.actors.push_back({actor, true, true, 0});
  return trial;
}

result::TrialRecord free_trial() {
  result::TrialRecord trial;
  trial.attached = 1;
  return trial;
}

result::Json counters_fact(const std::string& group, const std::string& name, int value) {
  return {{"fact", "counters"}, {"counters", {{group, {{name, value}}}}}};
}

} // namespace racelab::oracle::test

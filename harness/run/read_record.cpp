#include "run/read_record.h"

#include "base/files.h"
#include "base/text.h"
#include "result/result.h"

#include <cmath>

#include <fmt/format.h>

namespace racelab::run {

using board::Board;
using result::TrialRecord;

namespace {

constexpr std::size_t k_max_stacks = 64 * 1024;

result::EventKind kind_of(board::LogKind kind) {
  switch (kind) {
  case board::LogKind::pass:
    return result::EventKind::pass;
  case board::LogKind::parked:
    return result::EventKind::parked;
  case board::LogKind::released:
    return result::EventKind::released;
  case board::LogKind::actor_start:
    return result::EventKind::actor_start;
  case board::LogKind::actor_end:
    return result::EventKind::actor_end;
  case board::LogKind::tokens:
    return result::EventKind::tokens;
  case board::LogKind::given_up:
    return result::EventKind::given_up;
  case board::LogKind::removed:
    return result::EventKind::removed;
  }
  return result::EventKind::pass;
}

result::EndKind kind_of(launch::EndKind kind) {
  switch (kind) {
  case launch::EndKind::exited:
    return result::EndKind::exited;
  case launch::EndKind::signalled:
    return result::EndKind::signalled;
  case launch::EndKind::time_limit:
    return result::EndKind::time_limit;
  case launch::EndKind::deadlock:
    return result::EndKind::deadlock;
  case launch::EndKind::hang:
    return result::EndKind::hang;
  case launch::EndKind::interrupted:
    return result::EndKind::interrupted;
  case launch::EndKind::not_started:
    return result::EndKind::not_started;
  }
  return result::EndKind::not_started;
}

result::BoardState state_of(board::ScheduleState state) {
  switch (state) {
  case board::ScheduleState::open:
    return result::BoardState::open;
  case board::ScheduleState::complete:
    return result::BoardState::complete;
  case board::ScheduleState::unreachable:
    return result::BoardState::unreachable;
  case board::ScheduleState::impossible:
    return result::BoardState::impossible;
  case board::ScheduleState::stalled:
    return result::BoardState::stalled;
  }
  return result::BoardState::open;
}

result::WaitKind kind_of(board::WaitKind kind) {
  return kind == board::WaitKind::for_lock     ? result::WaitKind::for_lock
         : kind == board::WaitKind::for_region ? result::WaitKind::for_region
                                               : result::WaitKind::for_event;
}

// ns; `time` may be anything that the program under test wrote.
std::int64_t since(std::int64_t time, std::int64_t start_ns) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(start_ns));
}

// Names for the board's numbers.
class Names {
public:
  Names(const Board& board, const Board::Picture& picture) : m_board(board), m_picture(picture) {}

  std::string actor(int i) const {
    return i >= 0 && i < static_cast<int>(m_picture.actors.size()) ? m_picture.actors[static_cast<std::size_t>(i)].name
                                                                   : "";
  }
  std::string point(int i) const { return m_board.point_name(i); }
  std::string lock(int i) const {
    return i >= 0 && i < static_cast<int>(m_picture.locks.size()) ? m_picture.locks[static_cast<std::size_t>(i)].name
                                                                  : "";
  }
  std::string step(int i) const {
    if (i < 0 || i >= static_cast<int>(m_picture.steps.size())) {
      return "";
    }
    const auto& step = m_picture.steps[static_cast<std::size_t>(i)];
    return actor(step.actor) + " " + point(step.point) + (step.hit > 0 ? "#" + std::to_string(step.hit) : "");
  }

private:
  const Board& m_board;
  const Board::Picture& m_picture;
};

void read_events(const Board& board, const Names& names, std::int64_t start_ns, TrialRecord& record) {
  for (const board::LogEntry& entry : board.log_from(0)) {
    result::Event event;
    event.kind = kind_of(entry.kind);
    event.time_ns = since(entry.time, start_ns);
    event.waited_ns = entry.kind == board::LogKind::pass ? entry.value : 0;
    event.tokens = entry.kind == board::LogKind::tokens ? entry.value : 0;
    event.removed = entry.kind == board::LogKind::removed ? entry.value : 0;
    event.actor = names.actor(entry.actor);
    event.point = names.point(entry.point);
    event.hit = entry.hit;
    event.step = entry.step;
    record.events.push_back(std::move(event));
  }
}

void read_facts(const std::string& file, const Names& names, std::int64_t start_ns, TrialRecord& record) {
  const auto text = base::read_file(file);
  if (!text) {
    return; // no agent ran
  }
  for (const std::string& line : base::split(*text, '\n')) {
    auto fact = result::Json::parse(line, nullptr, false);
    if (!fact.is_object()) {
      continue; // the last line of a process that was killed while writing
    }
    if (fact.contains("actor") && fact["actor"].is_number_integer()) {
      fact["actor"] = names.actor(fact["actor"].get<int>());
    }
    if (fact.contains("time") && fact["time"].is_number_integer()) {
      fact["time"] = since(fact["time"].get<std::int64_t>(), start_ns);
    }
    record.facts.push_back(std::move(fact));
  }
}

// Results are no facts for people: there may be thousands. NaN is null in JSON of other writers, NaN in Python's.
void take_results(TrialRecord& record) {
  std::erase_if(record.facts, [&](const result::Json& fact) {
    if (fact.value("fact", "") != "result" || !fact.contains("values")) {
      return false;
    }
    for (const auto& value : fact["values"]) {
      record.results[fact.value("actor", "")].push_back(value.is_number() ? value.get<double>() : std::nan(""));
    }
    return true;
  });
}

// faulthandler's text with the actors' names, and without threads that have no Python frame (torch's pools).
std::string named_stacks(const std::string& text, const Board::Picture& picture) {
  std::string named;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t blank = text.find("\n\n", at);
    std::string block = text.substr(at, blank == std::string::npos ? std::string::npos : blank + 2 - at);
    at = blank == std::string::npos ? text.size() : blank + 2;
    if (block.find("<no Python frame>") != std::string::npos) {
      continue;
    }
    for (const auto& actor : picture.actors) {
      const std::string ident = fmt::format("hread 0x{:016x}", actor.ident);
      if (const std::size_t found = block.find(ident); actor.ident != 0 && found != std::string::npos) {
        block.insert(found + ident.size(), " " + actor.name);
      }
    }
    named += block;
  }
  return named;
}

} // namespace

TrialRecord read_record(int index, const Board& board, const launch::TrialEnd& end, const std::string& facts_file,
                        const std::string& stacks_file) {
  const Board::Picture picture = board.picture();
  const Names names(board, picture);
  TrialRecord record;
  record.index = index;
  record.board = state_of(picture.state);
  record.stuck_step = picture.stuck_step;
  for (const auto& wait : picture.chain) {
    record.cycle.push_back({names.actor(wait.actor), names.actor(wait.other), kind_of(wait.kind),
                            names.point(wait.point), names.step(wait.step), names.lock(wait.lock)});
  }
  for (std::size_t i = 0; i < picture.steps.size(); ++i) {
    const auto& step = picture.steps[i];
    record.steps.push_back({names.step(static_cast<int>(i)), names.actor(step.actor), names.point(step.point),
                            step.done, step.kills, board.hits(step.actor, step.point)});
  }
  for (const auto& actor : picture.actors) {
    record.actors.push_back({actor.name, actor.state != board::ActorState::expected,
                             actor.state == board::ActorState::ended, actor.waited});
  }
  record.attached = picture.attached;
  record.facts_lost = picture.facts_lost;
  record.events_lost = picture.log_lost;
  record.actors_lost = picture.actors_lost;
  record.stalled_because = end.stalled_because;
  record.stderr_tail = end.stderr_tail;
  for (const auto& line : end.token_lines) {
    record.token_lines.push_back({line.time_ns - end.start_ns, line.actor, line.number});
  }
  for (const auto& line : end.result_lines) {
    record.results[line.actor].push_back(line.number);
  }
  record.end = {kind_of(end.kind), end.exit_code, end.signal,        end.message,
                end.user_s,        end.system_s,  end.max_rss_bytes, end.left_over};
  record.wall_s = end.wall_s;
  record.stacks = named_stacks(base::read_file(stacks_file).value_or(""), picture).substr(0, k_max_stacks);
  read_events(board, names, end.start_ns, record);
  read_facts(facts_file, names, end.start_ns, record);
  take_results(record);
  return record;
}

std::string events_text(const TrialRecord& record) {
  std::string text;
  for (const auto& event : record.events) {
    text += result::to_json(event).dump() + "\n";
  }
  return text;
}

} // namespace racelab::run

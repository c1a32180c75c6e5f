#include "support.h"

#include <algorithm>

#include <sys/syscall.h>
#include <unistd.h>

namespace racelab::board::test {

namespace {

PlannedStep step_of(const std::string& event) {
  const std::size_t blank = event.rfind(' '), mark = event.rfind('#');
  PlannedStep step;
  step.actor = event.substr(0, blank);
  step.point = event.substr(blank + 1, mark == std::string::npos ? mark : mark - blank - 1);
  step.hit = mark == std::string::npos ? 0 : std::stoi(event.substr(mark + 1));
  return step;
}

} // namespace

Plan plan_of(const std::vector<std::string>& events, const Edges& edges, const std::vector<std::string>& more_points) {
  Plan plan;
  const auto declare = [&](const std::string& name) {
    if (std::none_of(plan.points.begin(), plan.points.end(), [&](const auto& p) { return p.name == name; }))
      plan.points.push_back({name, PointKind::plain, false});
  };
  for (const std::string& event : events) {
    plan.steps.push_back(step_of(event));
    declare(plan.steps.back().point);
  }
  std::for_each(more_points.begin(), more_points.end(), declare);
  plan.edges = edges;
  return plan;
}

Plan in_order(const std::vector<std::string>& events, const std::vector<std::string>& more_points) {
  Edges edges;
  for (int i = 0; i + 1 < static_cast<int>(events.size()); ++i)
    edges.emplace_back(i, i + 1);
  return plan_of(events, edges, more_points);
}

Plan serializing(const std::vector<std::string>& regions) {
  Plan plan;
  for (const std::string& region : regions) {
    plan.points.push_back({region + ".enter", PointKind::enter, true});
    plan.points.push_back({region + ".exit", PointKind::exit, true});
  }
  plan.points.push_back({"elsewhere", PointKind::plain, false});
  return plan;
}

int enter(Board& board, const std::string& name) {
  return board.enter_actor(name, getpid(), static_cast<int>(syscall(SYS_gettid)), 0);
}

std::int64_t pass(Board& board, int actor, const std::string& point) {
  return board.pass(actor, board.find_point(point));
}

std::vector<std::string> passes(const Board& board) {
  const Board::Picture picture = board.picture();
  std::vector<std::string> texts;
  for (const LogEntry& entry : board.log_from(0))
    if (entry.kind == LogKind::pass)
      texts.push_back(picture.actors[static_cast<std::size_t>(entry.actor)].name + " " + board.point_name(entry.point) +
                      "#" + std::to_string(entry.hit));
  return texts;
}

std::vector<LogKind> log_kinds(const Board& board, int actor) {
  std::vector<LogKind> kinds;
  for (const LogEntry& entry : board.log_from(0))
    if (entry.actor == actor)
      kinds.push_back(entry.kind);
  return kinds;
}

bool await_parked(const Board& board, int actor) {
  return await([&] { return board.picture().actors[static_cast<std::size_t>(actor)].state == ActorState::parked; });
}

Cast::~Cast() {
  m_board.give_up(ScheduleState::stalled);
  join();
}

void Cast::play(int actor, std::vector<std::string> points) {
  play([this, actor, points = std::move(points)] {
    for (const std::string& point : points)
      pass(m_board, actor, point);
  });
}

void Cast::join() {
  for (std::thread& thread : m_threads)
    thread.join();
  m_threads.clear();
}

} // namespace racelab::board::test

#include "schedule/interleaving.h"

#include "base/assert.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace racelab::schedule {

namespace {

constexpr int k_max_hit = 1'000'000'000;

} // namespace

std::string to_string(const EventRef& event) {
  std::string text = event.actor + " " + event.point;
  if (event.hit > 0)
    text += "#" + std::to_string(event.hit);
  return text;
}

tl::expected<EventRef, std::string> parse_event(std::string_view text) {
  const std::string_view whole = base::trim(text);
  if (whole.empty())
    return tl::unexpected<std::string>("an event is missing: write 'ACTOR POINT', such as 'drafter0 fx.trace.enter'");
  // The point is the last word: Python names threads "Thread-1 (run)", so an actor may have several.
  const std::size_t blank = whole.find_last_of(" \t");
  if (blank == std::string_view::npos)
    return tl::unexpected(fmt::format("event '{0}' names no actor: write 'ACTOR {0}'", whole));

  EventRef event;
  event.actor = base::trim(whole.substr(0, blank));
  std::string_view point = whole.substr(blank + 1);
  if (const std::size_t mark = point.find('#'); mark != std::string_view::npos) {
    const std::string_view digits = point.substr(mark + 1);
    point = point.substr(0, mark);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), event.hit);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || event.hit < 1 ||
        event.hit > k_max_hit)
      return tl::unexpected(
          fmt::format("event '{}' has no valid hit number: '#' wants a whole number from 1 to {}", whole, k_max_hit));
  }
  if (point.empty())
    return tl::unexpected(fmt::format("event '{}' names no point before '#': write 'ACTOR POINT#n'", whole));
  event.point = point;
  return event;
}

std::vector<std::pair<int, int>> chain_edges(int n) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i + 1 < n; ++i)
    edges.emplace_back(i, i + 1);
  return edges;
}

std::vector<int> find_cycle(int n, const std::vector<std::pair<int, int>>& edges) {
  std::vector<std::vector<int>> after(n);
  for (const auto& [before, later] : edges) {
    RACELAB_ASSERT(before >= 0 && before < n && later >= 0 && later < n);
    after[before].push_back(later);
  }
  enum class Mark { unseen, on_path, done };
  std::vector<Mark> mark(n, Mark::unseen);
  std::vector<std::size_t> next_edge(n, 0);
  // Depth-first with the path as the stack: no recursion, however long the chain.
  for (int start = 0; start < n; ++start) {
    if (mark[start] != Mark::unseen)
      continue;
    std::vector<int> path = {start};
    mark[start] = Mark::on_path;
    while (!path.empty()) {
      const int node = path.back();
      if (next_edge[node] == after[node].size()) {
        mark[node] = Mark::done;
        path.pop_back();
        continue;
      }
      const int later = after[node][next_edge[node]++];
      if (mark[later] == Mark::on_path)
        return {std::find(path.begin(), path.end(), later), path.end()};
      if (mark[later] == Mark::unseen) {
        mark[later] = Mark::on_path;
        path.push_back(later);
      }
    }
  }
  return {};
}

std::vector<std::string> named_actors(const Interleaving& interleaving) {
  std::vector<std::string> actors;
  for (const EventRef& event : interleaving.events)
    if (std::find(actors.begin(), actors.end(), event.actor) == actors.end())
      actors.push_back(event.actor);
  return actors;
}

} // namespace racelab::schedule

#include "scenario/read_interleaving.h"

#include "base/text.h"
#include "scenario/formats.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

using schedule::EventRef;
using schedule::Interleaving;
using schedule::InterleavingKind;

class InterleavingReader {
public:
  InterleavingReader(const Entry& entry, const NameTables& names, Diagnostics& diagnostics)
      : m_names(names), m_diagnostics(diagnostics) {
    m_result.name = entry.key;
    m_result.place = entry.place;
  }

  Interleaving read(const Value& value) {
    if (value.kind == Value::Kind::list)
      read_list(value);
    else if (const Value* edges = value.find("edges"))
      read_edges(*edges);
    else if (const Value* regions = value.find("serialize"))
      read_regions(*regions);
    refuse_circle();
    return std::move(m_result);
  }

private:
  std::optional<EventRef> read_event(std::string_view text, const base::SourcePlace& place) {
    auto event = schedule::parse_event(text);
    if (!event) {
      m_diagnostics.add(place, event.error());
      return std::nullopt;
    }
    if (event->actor.size() > k_max_name) {
      m_diagnostics.add(place, fmt::format("the actor of this event has more than {} characters", k_max_name));
      return std::nullopt;
    }
    const auto table = m_names.find(NameKind::event);
    if (table != m_names.end() && !table->second.has(event->point)) {
      m_diagnostics.add(place, unknown_name(NameKind::event, event->point, m_names));
      return std::nullopt;
    }
    return *event;
  }

  void read_list(const Value& list) {
    m_result.kind = InterleavingKind::ordered;
    for (const Value& item : list.items) {
      const bool kills = !item.entries.empty(); // `EVENT: kill`
      const auto event = read_event(kills ? item.entries.front().key : item.text, item.place);
      if (!event)
        continue;
      if (const auto [first, fresh] = m_index.try_emplace(to_string(*event), item.place.line); !fresh && event->hit > 0)
        m_diagnostics.add(item.place, fmt::format("'{}' is listed twice, but happens once (first on line {})",
                                                  to_string(*event), first->second));
      if (kills)
        m_result.kills.push_back(static_cast<int>(m_result.events.size()));
      m_result.events.push_back(*event);
    }
    m_result.edges = schedule::chain_edges(static_cast<int>(m_result.events.size()));
  }

  // In a partial order the same text is the same event, wherever it stands.
  int index_of(const EventRef& event) {
    const auto [found, fresh] = m_index.try_emplace(to_string(event), static_cast<int>(m_result.events.size()));
    if (fresh)
      m_result.events.push_back(event);
    return found->second;
  }

  void read_edges(const Value& list) {
    m_result.kind = InterleavingKind::ordered;
    for (const Value& item : list.items) {
      const std::vector<std::string> parts = base::split(item.text, '<');
      if (parts.size() < 2) {
        m_diagnostics.add(item.place, fmt::format("'{}' orders nothing: write 'ACTOR POINT < ACTOR POINT'", item.text));
        continue;
      }
      std::vector<std::optional<EventRef>> events;
      events.reserve(parts.size());
      for (const std::string& part : parts)
        events.push_back(read_event(part, item.place));
      for (std::size_t i = 0; i + 1 < events.size(); ++i)
        if (events[i] && events[i + 1]) {
          const int before = index_of(*events[i]);
          m_result.edges.emplace_back(before, index_of(*events[i + 1]));
        }
    }
    std::sort(m_result.edges.begin(), m_result.edges.end());
    m_result.edges.erase(std::unique(m_result.edges.begin(), m_result.edges.end()), m_result.edges.end());
  }

  void read_regions(const Value& value) {
    m_result.kind = InterleavingKind::serialize;
    if (value.kind == Value::Kind::scalar)
      m_result.regions = {value.text};
    for (const Value& item : value.items)
      m_result.regions.push_back(item.text);
  }

  // The order asked for, together with that of an actor's passes of one point: #1 comes before #2.
  std::vector<std::pair<int, int>> edges_with_hits() const {
    std::unordered_map<std::string, std::vector<int>> passes;
    for (std::size_t i = 0; i < m_result.events.size(); ++i) {
      const EventRef& event = m_result.events[i];
      if (event.hit > 0)
        passes[event.actor + " " + event.point].push_back(static_cast<int>(i));
    }
    auto edges = m_result.edges;
    for (auto& [point, indexes] : passes) {
      std::stable_sort(indexes.begin(), indexes.end(),
                       [&](int a, int b) { return m_result.events[a].hit < m_result.events[b].hit; });
      for (std::size_t i = 0; i + 1 < indexes.size(); ++i)
        if (m_result.events[indexes[i]].hit < m_result.events[indexes[i + 1]].hit)
          edges.emplace_back(indexes[i], indexes[i + 1]);
    }
    return edges;
  }

  void refuse_circle() {
    constexpr std::size_t k_max_shown = 6;
    const std::vector<int> cycle = schedule::find_cycle(static_cast<int>(m_result.events.size()), edges_with_hits());
    if (cycle.empty())
      return;
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(cycle.size(), k_max_shown); ++i)
      shown.push_back(to_string(m_result.events[cycle[i]]));
    if (cycle.size() > k_max_shown)
      shown.emplace_back("…");
    shown.push_back(to_string(m_result.events[cycle.front()]));
    m_diagnostics.add(m_result.place, fmt::format("interleaving '{}' cannot happen, its events form a circle: {}",
                                                  m_result.name, base::join(shown, " < ")));
  }

  const NameTables& m_names;
  Diagnostics& m_diagnostics;
  Interleaving m_result;
  std::unordered_map<std::string, int> m_index; // event to its line (a list), or to its index (a partial order)
};

} // namespace

Interleaving read_interleaving(const Entry& entry, const NameTables& names, Diagnostics& diagnostics) {
  return InterleavingReader(entry, names, diagnostics).read(entry.value);
}

} // namespace racelab::scenario

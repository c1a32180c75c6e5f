#pragma once
// The point catalogue: which places of torch and triton are sync points. The same file
// (harness/agent/python/racelab_agent/ catalogue.json) tells the agent how to hook them.
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::schedule {

enum class PlaceKind {
  region, // NAME.enter before a call, NAME.exit after it
  scope,  // NAME.before, .enter, .exit, .after: the middle two are inside
  lock,   // NAME.wanted, .taken, .released
  moment, // NAME: a single event, such as the moment before a line of a program runs
};

struct Place {
  std::string name;
  PlaceKind kind = PlaceKind::region;
  std::string module, attribute; // empty for a scenario's own places
  std::string about;
};

// The events of a place, in the order in which an actor passes them.
std::vector<std::string> events_of(const Place& place);

class Catalogue {
public:
  // `text` is catalogue.json.
  static tl::expected<Catalogue, std::string> parse(const std::string& text);

  void add(Place place) { m_places.push_back(std::move(place)); }
  const std::vector<Place>& places() const { return m_places; }
  const Place* find(std::string_view name) const;
  // The place that an event belongs to: "fx.trace.enter" -> fx.trace.
  const Place* place_of_event(std::string_view event) const;

private:
  std::vector<Place> m_places;
};

} // namespace racelab::schedule

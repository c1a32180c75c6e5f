#include "schedule/catalogue.h"

#include <nlohmann/json.hpp>

namespace racelab::schedule {

std::vector<std::string> events_of(const Place& place) {
  std::vector<std::string> events;
  const auto add = [&](const char* event) { events.push_back(place.name + "." + event); };
  switch (place.kind) {
  case PlaceKind::region:
    add("enter"), add("exit");
    break;
  case PlaceKind::scope:
    add("before"), add("enter"), add("exit"), add("after");
    break;
  case PlaceKind::lock:
    add("wanted"), add("taken"), add("released");
    break;
  case PlaceKind::moment:
    events.push_back(place.name);
    break;
  }
  return events;
}

tl::expected<Catalogue, std::string> Catalogue::parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("points")) {
    return tl::unexpected<std::string>("the point catalogue is not a JSON object with 'points'");
  }
  Catalogue catalogue;
  for (const auto& entry : json["points"]) {
    Place place;
    place.name = entry.value("name", "");
    const std::string kind = entry.value("kind", "");
    place.kind = kind == "lock" ? PlaceKind::lock : kind == "scope" ? PlaceKind::scope : PlaceKind::region;
    place.module = entry.value("module", "");
    place.attribute = entry.value("attribute", "");
    place.about = entry.value("about", "");
    if (place.name.empty() || (kind != "lock" && kind != "scope" && kind != "region")) {
      return tl::unexpected<std::string>("the point catalogue has an entry without name or with unknown kind '" + kind +
                                         "'");
    }
    catalogue.add(std::move(place));
  }
  return catalogue;
}

const Place* Catalogue::find(std::string_view name) const {
  for (const Place& place : m_places) {
    if (place.name == name) {
      return &place;
    }
  }
  return nullptr;
}

const Place* Catalogue::place_of_event(std::string_view event) const {
  for (const Place& place : m_places) {
    for (const std::string& own : events_of(place)) {
      if (own == event) {
        return &place;
      }
    }
  }
  return nullptr;
}

} // namespace racelab::schedule

#include "scenario/overrides.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

void set_places(Value& value, const base::SourcePlace& place) {
  value.place = place;
  for (Value& item : value.items)
    set_places(item, place);
  for (Entry& entry : value.entries) {
    entry.place = place;
    set_places(entry.value, place);
  }
}

// The axis that a short form names: "cache" and "caches" are matrix.caches.
std::optional<std::string> axis_of(const std::string& path) {
  constexpr std::array<const char*, 5> k_axes = {"toolkits", "caches", "layouts", "interleavings", "mitigations"};
  for (const std::string axis : k_axes)
    if (path == axis || path + "s" == axis)
      return axis;
  return std::nullopt;
}

// "a,b" as a list of two; an axis is always a list.
Value axis_list(Value value) {
  if (value.kind != Value::Kind::scalar)
    return value;
  Value list;
  list.kind = Value::Kind::list;
  list.place = value.place;
  for (const std::string& part : base::split(value.text, ',')) {
    Value item = value;
    item.text = base::trim(part);
    list.items.push_back(std::move(item));
  }
  return list;
}

std::string join_from(const std::vector<std::string>& parts, std::size_t begin, std::size_t end) {
  return base::join(std::span(parts).subspan(begin, end - begin), ".");
}

Value* item_at(Value& list, const std::string& index) {
  std::size_t i = 0;
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), i);
  const bool whole = error == std::errc() && end == index.data() + index.size();
  return whole && i < list.items.size() ? &list.items[i] : nullptr;
}

// The value that a path names in a document, made where it is missing.
class PathWalk {
public:
  PathWalk(const std::vector<std::string>& path, base::SourcePlace place, Diagnostics& diagnostics)
      : m_path(path), m_place(std::move(place)), m_diagnostics(diagnostics) {}

  Value* find(Value& root) {
    Value* value = &root;
    while (value != nullptr && m_next < m_path.size())
      value = step(*value);
    return value;
  }

private:
  Value* step(Value& value) {
    if (value.kind == Value::Kind::list) {
      if (Value* item = item_at(value, m_path[m_next])) {
        ++m_next;
        return item;
      }
      return fail(fmt::format("'{}' is a list of {}; name an item from 0 to {}", join_from(m_path, 0, m_next),
                              value.items.size(), static_cast<long>(value.items.size()) - 1));
    }
    if (value.kind == Value::Kind::scalar)
      return fail(
          fmt::format("'{}' is a single value and has no key '{}'", join_from(m_path, 0, m_next), m_path[m_next]));
    value.kind = Value::Kind::map;

    // Keys may hold dots themselves ("queue.put"): the longest one that exists wins.
    for (std::size_t end = m_path.size(); end > m_next; --end) {
      const std::string key = join_from(m_path, m_next, end);
      for (Entry& entry : value.entries) {
        if (entry.key == key) {
          m_next = end;
          return &entry.value;
        }
      }
    }
    // The keys of mitigations.NAME.config are dotted paths.
    const bool dotted = m_next == 3 && m_path[0] == "mitigations" && m_path[2] == "config";
    const std::size_t end = dotted ? m_path.size() : m_next + 1;
    value.entries.push_back({join_from(m_path, m_next, end), m_place, Value{}});
    value.entries.back().value.place = m_place;
    m_next = end;
    return &value.entries.back().value;
  }

  Value* fail(const std::string& message) {
    m_diagnostics.add(m_place, message);
    return nullptr;
  }

  const std::vector<std::string>& m_path;
  base::SourcePlace m_place;
  Diagnostics& m_diagnostics;
  std::size_t m_next = 0;
};

} // namespace

void apply_override(Value& document, const Override& override_, Diagnostics& diagnostics) {
  const base::SourcePlace place = {fmt::format("--set {}={}", override_.path, override_.value)};
  Diagnostics of_value;
  Value value = parse_document(override_.value, place.file, of_value);
  if (!of_value.empty()) {
    for (const base::Diagnostic& diagnostic : of_value.sorted())
      diagnostics.add(place, diagnostic.message == "the file is empty" ? "the value is empty" : diagnostic.message);
    return;
  }
  set_places(value, place);

  std::vector<std::string> path = base::split(override_.path, '.');
  if (std::any_of(path.begin(), path.end(), [](const std::string& part) { return base::trim(part).empty(); })) {
    diagnostics.add(place, "a path is needed before '=': keys joined by dots, such as pipeline.env.NAME");
    return;
  }
  if (const auto axis = axis_of(override_.path)) {
    path = {"matrix", *axis};
    value = axis_list(std::move(value));
  }
  if (Value* target = PathWalk(path, place, diagnostics).find(document))
    *target = std::move(value);
}

} // namespace racelab::scenario

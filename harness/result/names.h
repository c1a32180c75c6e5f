#pragma once
// Names of the enumerations as files and messages spell them, and back. Names are part of the file formats: add, never
// change.
#include "result/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace racelab::result {

// Every value of the enumeration with its name, in the order of declaration. Defined for EventKind, BoardState,
// WaitKind, EndKind, ScheduleStatus and Verdict.
template <class Enum> std::span<const std::pair<Enum, std::string_view>> names_of();

template <> std::span<const std::pair<EventKind, std::string_view>> names_of<EventKind>();
template <> std::span<const std::pair<BoardState, std::string_view>> names_of<BoardState>();
template <> std::span<const std::pair<WaitKind, std::string_view>> names_of<WaitKind>();
template <> std::span<const std::pair<EndKind, std::string_view>> names_of<EndKind>();
template <> std::span<const std::pair<ScheduleStatus, std::string_view>> names_of<ScheduleStatus>();
template <> std::span<const std::pair<Verdict, std::string_view>> names_of<Verdict>();

template <class Enum> std::optional<Enum> from_name(std::string_view name) {
  for (const auto& [value, its_name] : names_of<Enum>())
    if (its_name == name)
      return value;
  return std::nullopt;
}

std::string to_string(EventKind kind);
std::string to_string(BoardState state);
std::string to_string(WaitKind kind);
std::string to_string(EndKind kind);

} // namespace racelab::result

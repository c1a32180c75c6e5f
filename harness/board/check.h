#pragma once
// What a number or a name of the board may be. The board lies in memory that the program under test can overwrite: a
// count is clamped and an index is looked at wherever one is read, so that nobody reads or writes beside the board.
#include "board/layout.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace racelab::board {

inline int clamped(std::int32_t count, int room) {
  return std::clamp(count, 0, room);
}

inline bool is_index(std::int32_t index, int count) {
  return index >= 0 && index < count;
}

// The index, or -1 where it is none.
inline int index_or_none(std::int32_t index, int count) {
  return is_index(index, count) ? index : -1;
}

inline std::string_view text_of(const Name& name) {
  return {name.data(), strnlen(name.data(), name.size())};
}

// What is wrong with a board that somebody else has filled; nullopt if every count, index, name and state is one that
// this racelab could have written. The caller holds the mutex.
std::optional<std::string> find_damage(const Memory& memory);

} // namespace racelab::board

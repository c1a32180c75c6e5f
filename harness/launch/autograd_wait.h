#pragma once
// A deadlock that known locks alone do not show: torch's autograd engine runs all backward work of a GPU in one thread
// of its own, and whoever calls it waits for that thread. If the caller holds a lock that the engine's thread wants,
// neither goes on. The wait for the engine is seen in the caller's Python stack.
#include "board/board.h"

#include <optional>
#include <string>
#include <string_view>

namespace racelab::launch {

// Whether any thread of the autograd engine wants a known lock that somebody else holds: only then are stacks of use.
bool engine_wants_lock(const board::Board::Picture& picture);

// "pt_autograd_0 waits for compile_lock, held by drafter0; drafter0 waits for the autograd engine". nullopt: the holder
// is not in the engine. `stacks` is the text of Python's faulthandler.
std::optional<std::string> explain_engine_wait(const board::Board::Picture& picture, std::string_view stacks);

} // namespace racelab::launch

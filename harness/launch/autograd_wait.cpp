#include "launch/autograd_wait.h"

#include <fmt/format.h>

namespace racelab::launch {

namespace {

constexpr std::string_view k_engine_thread = "pt_autograd_"; // Engine::thread_init (torch/csrc/autograd/engine.cpp)
constexpr std::string_view k_engine_call = " in _engine_run_backward";

using Actor = board::Board::Picture::Actor;

// The engine's thread and the holder of the lock that it wants.
std::optional<std::pair<const Actor*, const Actor*>> find_wait(const board::Board::Picture& picture) {
  for (const Actor& actor : picture.actors) {
    if (actor.state != board::ActorState::wanting || actor.lock < 0 || !actor.name.starts_with(k_engine_thread)) {
      continue;
    }
    const int holder = picture.locks[static_cast<std::size_t>(actor.lock)].holder;
    if (holder >= 0 && &picture.actors[static_cast<std::size_t>(holder)] != &actor) {
      return std::pair(&actor, &picture.actors[static_cast<std::size_t>(holder)]);
    }
  }
  return std::nullopt;
}

// The first line after "Thread 0x… (most recent call first):", which is the innermost frame.
std::string_view innermost_frame(std::string_view stacks, std::uint64_t ident) {
  const std::string head = fmt::format("hread 0x{:016x}", ident);
  const std::size_t block = stacks.rfind(head); // the newest of several dumps
  if (block == std::string_view::npos) {
    return {};
  }
  const std::size_t frame = stacks.find('\n', block);
  return frame == std::string_view::npos ? std::string_view()
                                         : stacks.substr(frame + 1, stacks.find('\n', frame + 1) - frame - 1);
}

} // namespace

bool engine_wants_lock(const board::Board::Picture& picture) {
  return find_wait(picture).has_value();
}

std::optional<std::string> explain_engine_wait(const board::Board::Picture& picture, std::string_view stacks) {
  const auto wait = find_wait(picture);
  if (!wait || !innermost_frame(stacks, wait->second->ident).ends_with(k_engine_call)) {
    return std::nullopt;
  }
  const auto& [engine, holder] = *wait;
  return fmt::format(
      "{0} waits for {1}, held by {2}; {2} waits for the autograd engine, whose thread for that device is "
      "{0}",
      engine->name, picture.locks[static_cast<std::size_t>(engine->lock)].name, holder->name);
}

} // namespace racelab::launch

#pragma once
// Interleavings: what a scenario asks of the order of events. Pure values; the board (harness/board) enforces them.
#include "base/error.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::schedule {

// One actor passing one point: "drafter0 fx.trace.enter#2". `hit` 0 means "the next pass that no earlier event of the
// list has taken"; n >= 1 means the n-th pass of the trial.
struct EventRef {
  std::string actor;
  std::string point;
  int hit = 0;

  bool operator==(const EventRef&) const = default;
};

std::string to_string(const EventRef& event);
// Parses "ACTOR POINT" or "ACTOR POINT#n". Errors name what is missing; the point's existence is not checked here.
tl::expected<EventRef, std::string> parse_event(std::string_view text);

enum class InterleavingKind {
  ordered,   // `events` under the partial order `edges`
  serialize, // no two actors inside any of `regions` at once
  free,      // recorded, not controlled
};

struct Interleaving {
  std::string name;
  InterleavingKind kind = InterleavingKind::free;
  std::vector<EventRef> events;
  // (before, after): indexes into `events`. A plain list of n events has the n-1 edges of its chain.
  std::vector<std::pair<int, int>> edges;
  std::vector<int> kills;           // indexes into `events`: the actor's process is killed right after them
  std::vector<std::string> regions; // names of points with enter and exit, such as "compiled_call"
  base::SourcePlace place;
};

// The chain 0 < 1 < ... < n-1.
std::vector<std::pair<int, int>> chain_edges(int n);

// Indexes of a cycle in the edges, empty if there is none (a partial order must have none).
std::vector<int> find_cycle(int n, const std::vector<std::pair<int, int>>& edges);

// Every actor that the interleaving names, in order of first mention.
std::vector<std::string> named_actors(const Interleaving& interleaving);

} // namespace racelab::schedule

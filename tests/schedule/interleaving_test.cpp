#include "schedule/interleaving.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(ParseEvent, reads_actor_point_and_hit) {
  EXPECT_EQ(*parse_event("drafter0 fx.trace.enter"), (EventRef{"drafter0", "fx.trace.enter", 0}));
  EXPECT_EQ(*parse_event("drafter0 fx.trace.enter#2"), (EventRef{"drafter0", "fx.trace.enter", 2}));
  EXPECT_EQ(*parse_event("  drafter0 \t fx.trace.enter  "), (EventRef{"drafter0", "fx.trace.enter", 0}));
}

TEST(ParseEvent, takes_the_last_word_as_the_point_because_thread_names_may_have_blanks) {
  EXPECT_EQ(*parse_event("Thread-1 (run) fx.trace.enter"), (EventRef{"Thread-1 (run)", "fx.trace.enter", 0}));
}

TEST(ParseEvent, is_the_inverse_of_to_string) {
  for (const EventRef& event : {EventRef{"a", "b.c", 0}, EventRef{"a", "b.c", 1}, EventRef{"Thread-1 (f)", "x", 12345}})
    EXPECT_EQ(*parse_event(to_string(event)), event);
}

TEST(ParseEvent, says_what_is_missing) {
  EXPECT_THAT(parse_event("").error(), HasSubstr("an event is missing"));
  EXPECT_THAT(parse_event("  ").error(), HasSubstr("an event is missing"));
  EXPECT_THAT(parse_event("fx.trace.enter").error(), HasSubstr("names no actor: write 'ACTOR fx.trace.enter'"));
  EXPECT_THAT(parse_event("drafter0 #2").error(), HasSubstr("names no point"));
}

TEST(ParseEvent, refuses_hit_numbers_that_no_pass_can_have) {
  for (const char* text : {"a b#", "a b#0", "a b#-1", "a b#x", "a b#1x", "a b#1#2", "a b#99999999999", "a b#1.5"})
    EXPECT_THAT(parse_event(text).error(), HasSubstr("no valid hit number")) << text;
}

TEST(ChainEdges, join_neighbours) {
  EXPECT_THAT(chain_edges(0), IsEmpty());
  EXPECT_THAT(chain_edges(1), IsEmpty());
  EXPECT_THAT(chain_edges(3), ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(FindCycle, finds_none_in_a_partial_order) {
  EXPECT_THAT(find_cycle(0, {}), IsEmpty());
  EXPECT_THAT(find_cycle(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), IsEmpty());
  EXPECT_THAT(find_cycle(100'000, chain_edges(100'000)), IsEmpty());
}

TEST(FindCycle, names_the_events_of_the_cycle_and_no_others) {
  EXPECT_THAT(find_cycle(1, {{0, 0}}), ElementsAre(0));
  EXPECT_THAT(find_cycle(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}}), ElementsAre(1, 2, 3));
}

bool has_cycle_by_elimination(int n, std::vector<std::pair<int, int>> edges) {
  std::vector<bool> gone(n, false);
  for (int round = 0; round < n; ++round)
    for (int node = 0; node < n; ++node)
      if (std::none_of(edges.begin(), edges.end(), [&](const auto& edge) { return edge.second == node; })) {
        gone[node] = true;
        std::erase_if(edges, [&](const auto& edge) { return edge.first == node; });
      }
  return std::find(gone.begin(), gone.end(), false) != gone.end();
}

TEST(FindCycle, agrees_with_repeated_elimination_on_random_graphs) {
  std::mt19937 random(7);
  int cyclic = 0;
  for (int i = 0; i < 2000; ++i) {
    const int n = 1 + static_cast<int>(random() % 8);
    std::vector<std::pair<int, int>> edges;
    for (unsigned k = random() % 10; k > 0; --k)
      edges.emplace_back(random() % n, random() % n);
    const std::vector<int> cycle = find_cycle(n, edges);
    ASSERT_EQ(!cycle.empty(), has_cycle_by_elimination(n, edges));
    for (std::size_t k = 0; k < cycle.size(); ++k)
      EXPECT_THAT(edges, testing::Contains(Pair(cycle[k], cycle[(k + 1) % cycle.size()])));
    cyclic += cycle.empty() ? 0 : 1;
  }
  EXPECT_GT(cyclic, 200);
  EXPECT_LT(cyclic, 1800);
}

TEST(NamedActors, are_in_order_of_first_mention) {
  Interleaving interleaving;
  interleaving.events = {{"b", "x", 0}, {"a", "x", 0}, {"b", "y", 0}};
  EXPECT_THAT(named_actors(interleaving), ElementsAre("b", "a"));
}

} // namespace
} // namespace racelab::schedule

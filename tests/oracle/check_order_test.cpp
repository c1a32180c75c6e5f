// The log is checked against what was asked, whatever the board says.
#include "support.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace racelab::oracle::test {
namespace {

const schedule::Interleaving k_asked = in_order({"a p", "b q#2", "a r"});

std::vector<result::Event> right() {
  return {pass("b q#1"),    event(result::EventKind::parked, "b", "q"), pass("a p#1", 0), pass("b q#2", 1),
          pass("c p#1"),    event(result::EventKind::released, "z"),    pass("a r#4", 2), pass("a p#2"),
          tokens("a", 5, 0)};
}

TEST(CheckOrder, FindsNothingWrongWithARightLog) {
  EXPECT_EQ(check_order(right(), k_asked), "");
}

TEST(CheckOrder, FindsEveryWrongOrderOfTheListedEvents) {
  const std::vector<result::Event> listed{pass("a p#1", 0), pass("b q#2", 1), pass("a r#1", 2)};
  std::vector<int> order{0, 1, 2};
  int right_ones = 0;
  do {
    std::vector<result::Event> log;
    for (const int i : order)
      log.push_back(listed[static_cast<std::size_t>(i)]);
    const std::string wrong = check_order(log, k_asked);
    right_ones += wrong.empty() ? 1 : 0;
    EXPECT_EQ(wrong.empty(), std::is_sorted(order.begin(), order.end())) << wrong;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(right_ones, 1);
}

TEST(CheckOrder, FindsAMissingEvent) {
  auto log = right();
  log.erase(log.begin() + 3);
  EXPECT_EQ(check_order(log, k_asked), "b q#2 is not in the log");
}

TEST(CheckOrder, FindsAStepThatIsAnotherEvent) {
  for (const char* other : {"z q#2", "b p#2", "b q#1"}) {
    auto log = right();
    log[3] = pass(other, 1);
    EXPECT_EQ(check_order(log, k_asked), "event 3 of the log is " + std::string(other) + ", not b q#2");
  }
}

TEST(CheckOrder, TakesAnyHitWhereNoneWasAsked) {
  auto log = right();
  log[2] = pass("a p#17", 0);
  EXPECT_EQ(check_order(log, k_asked), "");
}

TEST(CheckOrder, DemandsOnlyTheEdgesOfAPartialOrder) {
  auto asked = in_order({"a p", "b p", "c p"});
  asked.edges = {{0, 2}, {1, 2}};
  EXPECT_EQ(check_order({pass("b p#1", 1), pass("a p#1", 0), pass("c p#1", 2)}, asked), "");
  EXPECT_EQ(check_order({pass("a p#1", 0), pass("c p#1", 2), pass("b p#1", 1)}, asked), "b p came after c p");
}

TEST(CheckOrder, IgnoresStepNumbersThatTheInterleavingDoesNotHave) {
  auto log = right();
  log.push_back(pass("a p#9", 3));
  EXPECT_EQ(check_order(log, k_asked), "");
}

} // namespace
} // namespace racelab::oracle::test

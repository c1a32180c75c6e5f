#include "cases.h"
#include "report/schedule_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::report {
namespace {

using result::Event;
using result::Fault;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Style k_style{.color = false, .width = 100};

Event pass(const std::string& actor, const std::string& point, int step = -1, unsigned hit = 1) {
  Event event;
  event.actor = actor;
  event.point = point;
  event.step = step;
  event.hit = hit;
  return event;
}

Fault fault(const std::string& actor, int event, const std::string& message) {
  return {.kind = "nested_tracing", .actor = actor, .event = event, .message = message, .stack = "", .others = ""};
}

std::vector<Event> many_passes(int count, int listed_at) {
  std::vector<Event> events;
  for (int i = 0; i < count; ++i)
    events.push_back(pass(i % 2 == 0 ? "a" : "b", "step" + std::to_string(i), i == listed_at ? 0 : -1));
  return events;
}

TEST(ScheduleView, GivesEachActorAColumn) {
  const result::TrialResult trial = nested_trial(1);
  EXPECT_EQ(render_schedule(trial.schedule, trial.faults, k_style),
            "    #   drafter0             drafter1             drafter2\n"
            "    1   fx.trace.enter\n"
            "    2                        compiled_call.enter\n"
            "    3                        RuntimeError: Detected that you are using FX to symbolically trace a d…\n"
            "    4   fx.trace.exit\n"
            "    5                                             compiled_call.enter\n");
}

TEST(ScheduleView, PlacesAFaultByTheEventsOwnIndexOrByItsPlace) {
  std::vector<Event> events = {pass("a", "one"), pass("a", "two"), pass("a", "three")};
  const std::vector<Fault> faults = {fault("a", 1, "boom")};
  const std::vector<std::string> by_place = {"1   one", "2   two", "3   boom", "4   three"};
  EXPECT_EQ(missing_lines(render_schedule(events, faults, k_style), by_place), "");
  events[0].index = 0;
  events[1].index = 5;
  events[2].index = 9;
  EXPECT_EQ(missing_lines(render_schedule(events, faults, k_style), {"1   one", "2   boom", "3   two", "4   three"}),
            "");
}

TEST(ScheduleView, ShowsAnExceptionOnceThatIsTwoFaults) {
  const std::vector<Event> events = {pass("a", "one"), pass("b", "one"), pass("a", "two")};
  std::vector<Fault> faults = {fault("a", 0, "boom"), fault("b", 1, "boom"), fault("a", 2, "boom")};
  faults[2].kind = "actor_died";
  EXPECT_EQ(missing_lines(render_schedule(events, faults, k_style),
                          {"1   one$", "2   boom$", "3 +one$", "4 +boom$", "5   two$"}),
            "");
  EXPECT_EQ(lines_of(render_schedule(events, faults, k_style)).size(), 6U);
}

TEST(ScheduleView, PutsAFaultWithoutAnEventOrActorAtTheEnd) {
  const std::vector<Event> events = {pass("a", "one"), pass("b", "two")};
  EXPECT_EQ(missing_lines(render_schedule(events, std::vector<Fault>{fault("", -1, "signal 11")}, k_style),
                          {"1   one", "2 +two", "^    3   signal 11$"}),
            "");
}

TEST(ScheduleView, NamesTheKindOfAFaultWithoutAMessage) {
  EXPECT_THAT(render_schedule({}, std::vector<Fault>{fault("a", -1, "")}, k_style), HasSubstr("1   nested_tracing\n"));
}

TEST(ScheduleView, IsEmptyWithoutEventsAndFaults) {
  EXPECT_EQ(render_schedule({}, {}, k_style), "");
}

TEST(ScheduleView, ShowsPassesOnlyAndNumbersRepeatedHits) {
  std::vector<Event> events = {pass("a", "one"), pass("a", "one", -1, 2), pass("a", "never")};
  events[2].kind = result::EventKind::parked;
  const std::string text = render_schedule(events, {}, k_style);
  EXPECT_EQ(missing_lines(text, {"1   one$", "2   one#2$"}), "");
  EXPECT_THAT(text, Not(HasSubstr("never")));
}

TEST(ScheduleView, KeepsTheRowsAroundFaultsAndListedEventsOfALongSchedule) {
  const std::string text =
      render_schedule(many_passes(10'000, 100), std::vector<Fault>{fault("b", 7000, "boom")}, k_style);
  EXPECT_LE(lines_of(text).size(), static_cast<std::size_t>(k_max_schedule_rows) + 1);
  EXPECT_EQ(missing_lines(text, {"…   9[0-9] more$", " step99$", " step100$", " step101$", "…   6[0-9]* more$",
                                 " step7000$", "7002 +boom$", " step7001$", "…   [0-9]* more$"}),
            "");
}

TEST(ScheduleView, GivesOnlyTheRowsNearbyOfALongSchedule) {
  const std::string text = render_schedule(many_passes(1000, 500), {}, k_style);
  EXPECT_EQ(missing_lines(text, {"…   497 more$", " step497$", " step500$", " step503$", "…   496 more$"}), "");
}

TEST(ScheduleView, KeepsTheEndWhereNothingStandsOut) {
  const std::string text = render_schedule(many_passes(1000, -1), {}, k_style);
  EXPECT_EQ(missing_lines(text, {"…   9[0-9][0-9] more$", " step998$", " step999$"}), "");
}

TEST(ScheduleView, IsBoundedWhereEverySecondEventIsListed) {
  std::vector<Event> events = many_passes(2000, -1);
  for (std::size_t i = 0; i < events.size(); i += 2)
    events[i].step = static_cast<int>(i);
  EXPECT_LE(lines_of(render_schedule(events, {}, k_style)).size(), static_cast<std::size_t>(k_max_schedule_rows) + 1);
}

TEST(ScheduleView, ShowsOfManyActorsThoseThatTakePartInNaturalOrder) {
  std::vector<Event> events;
  for (int i = 0; i < 30; ++i)
    events.push_back(pass("drafter" + std::to_string(i), "queue.put"));
  events[2].step = 0;
  const std::string text = render_schedule(events, std::vector<Fault>{fault("drafter10", 10, "boom")}, k_style);
  EXPECT_EQ(missing_lines(
                text, {"#   drafter2 +drafter10$", "queue.put", "queue.put", "boom", "not shown: 28 other actors$"}),
            "");
}

TEST(ScheduleView, HasAsManyColumnsAsTheWidthAllows) {
  std::vector<Event> events;
  for (int i = 0; i < 30; ++i)
    events.push_back(pass("drafter" + std::to_string(i), "queue.put", i));
  const std::string text = render_schedule(events, {}, k_style);
  for (const std::string& line : lines_of(text))
    EXPECT_LE(columns_of(line), 100) << line;
  EXPECT_THAT(text, HasSubstr("other actors"));
}

TEST(ScheduleView, EscapesWhatActorsAndPointsAreCalled) {
  EXPECT_EQ(missing_lines(render_schedule(std::vector<Event>{pass("a\x1b[2J", "p\nq")}, {}, k_style),
                          {R"(#   a\\x1b\[2J$)", R"(1   p\\nq$)"}),
            "");
}

} // namespace
} // namespace racelab::report

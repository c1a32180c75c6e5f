// What a trial's board and agent are told.
#include "support.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::run::test {
namespace {

using board::PointKind;
using schedule::InterleavingKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Pair;

schedule::Interleaving serializing(std::vector<std::string> regions) {
  schedule::Interleaving interleaving;
  interleaving.kind = InterleavingKind::serialize;
  interleaving.regions = std::move(regions);
  return interleaving;
}

auto point(const std::string& name, PointKind kind, bool serialized) {
  return AllOf(Field(&board::PlannedPoint::name, name), Field(&board::PlannedPoint::kind, kind),
               Field(&board::PlannedPoint::serialized, serialized));
}

class Plans : public testing::Test {
protected:
  std::vector<std::string> used(const schedule::Interleaving& interleaving) {
    return places_used(interleaving, {}, scenario, catalogue_for(builtin(), scenario));
  }
  board::Plan plan(const schedule::Interleaving& interleaving) {
    return board_plan(interleaving, {}, used(interleaving), catalogue_for(builtin(), scenario));
  }
  scenario::Scenario scenario = small_scenario();
};

TEST_F(Plans, KnowThePointsLocksAndTokensOfTheScenario) {
  const auto catalogue = catalogue_for(builtin(), scenario);
  ASSERT_NE(catalogue.find("queue.put"), nullptr);
  EXPECT_EQ(catalogue.find("queue.put")->kind, schedule::PlaceKind::region);
  ASSERT_NE(catalogue.find("queue_lock"), nullptr);
  EXPECT_EQ(catalogue.find("queue_lock")->kind, schedule::PlaceKind::lock);
  EXPECT_NE(catalogue.find("tokens"), nullptr);
  scenario.tokens.reset();
  EXPECT_EQ(catalogue_for(builtin(), scenario).find("tokens"), nullptr);
}

TEST_F(Plans, UseWhatTheOraclesNeedInEveryTrial) {
  EXPECT_THAT(used({}), ElementsAre("compiled_call", "fx.trace", "compile_lock", "queue_lock", "tokens"));
  scenario.tokens.reset();
  scenario.locks.clear();
  EXPECT_THAT(used({}), ElementsAre("compiled_call", "fx.trace", "compile_lock"));
}

TEST_F(Plans, UseThePlacesOfTheInterleavingsEventsOnce) {
  EXPECT_THAT(
      used(ordered({"a queue.put.enter", "b dynamo.compile.exit", "a queue.put.exit", "a fx.trace.before"})),
      ElementsAre("compiled_call", "fx.trace", "compile_lock", "queue.put", "dynamo.compile", "queue_lock", "tokens"));
}

TEST_F(Plans, UseSerializedRegionsAndWhatTheScenarioRecords) {
  scenario.record = {"queue.put"};
  EXPECT_THAT(
      used(serializing({"dynamo.compile"})),
      ElementsAre("compiled_call", "fx.trace", "compile_lock", "dynamo.compile", "queue.put", "queue_lock", "tokens"));
}

TEST_F(Plans, DeclareTheEventsOfEveryPlaceAndTheKnownLocks) {
  scenario.locks.clear();
  const board::Plan made = plan({});
  EXPECT_THAT(
      made.points,
      ElementsAre(point("compiled_call.enter", PointKind::enter, false),
                  point("compiled_call.exit", PointKind::exit, false),
                  point("fx.trace.before", PointKind::plain, false), point("fx.trace.enter", PointKind::enter, false),
                  point("fx.trace.exit", PointKind::exit, false), point("fx.trace.after", PointKind::plain, false),
                  point("compile_lock.wanted", PointKind::lock_wanted, false),
                  point("compile_lock.taken", PointKind::lock_taken, false),
                  point("compile_lock.released", PointKind::lock_released, false),
                  point("tokens.enter", PointKind::enter, false), point("tokens.exit", PointKind::exit, false)));
  EXPECT_THAT(made.locks, ElementsAre("compile_lock"));
  EXPECT_THAT(made.steps, IsEmpty());
  EXPECT_THAT(made.edges, IsEmpty());
}

TEST_F(Plans, TakeStepsAndEdgesFromAnOrderedInterleaving) {
  auto asked = ordered({"a fx.trace.enter", "b compiled_call.enter#2", "a fx.trace.exit"});
  asked.edges = {{0, 1}, {0, 2}};
  const board::Plan made = plan(asked);
  ASSERT_EQ(made.steps.size(), 3U);
  EXPECT_EQ(made.steps[0].actor, "a");
  EXPECT_EQ(made.steps[0].point, "fx.trace.enter");
  EXPECT_EQ(made.steps[0].hit, 0);
  EXPECT_EQ(made.steps[1].hit, 2);
  EXPECT_THAT(made.edges, ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_NO_THROW(board::Board::create(made));
}

TEST_F(Plans, SerializeARegionAtItsEnterAndExit) {
  const board::Plan made = plan(serializing({"compiled_call"}));
  EXPECT_THAT(made.points, testing::IsSupersetOf({point("compiled_call.enter", PointKind::enter, true),
                                                  point("compiled_call.exit", PointKind::exit, true),
                                                  point("fx.trace.enter", PointKind::enter, false)}));
  EXPECT_THAT(made.steps, IsEmpty());
}

TEST_F(Plans, SerializeAScopeAroundItNotInside) {
  const board::Plan made = plan(serializing({"fx.trace"}));
  EXPECT_THAT(made.points, testing::IsSupersetOf({point("fx.trace.before", PointKind::enter, true),
                                                  point("fx.trace.after", PointKind::exit, true),
                                                  point("fx.trace.enter", PointKind::plain, true),
                                                  point("compiled_call.enter", PointKind::enter, false)}));
}

TEST_F(Plans, SerializeNothingWhereAnOrderIsAsked) {
  for (const auto& p : plan(ordered({"a fx.trace.enter"})).points)
    EXPECT_FALSE(p.serialized) << p.name;
}

TEST_F(Plans, TellTheAgentWhereToWriteAndWhatToInstall) {
  const scenario::Mitigation mitigation{"m", {}, {{"torch._dynamo.config.x", false}, {"y", 3}}, {}};
  const auto asked = ordered({"a queue.put.enter", "a queue_lock.taken", "a dynamo.compile.enter"});
  const auto config = agent_config(scenario, mitigation, used(asked), "/f/facts", "/f/stacks");
  EXPECT_EQ(config["facts"], "/f/facts");
  EXPECT_EQ(config["stacks"], "/f/stacks");
  EXPECT_EQ(config["install"], (nlohmann::ordered_json{"compiled_call", "fx.trace", "compile_lock", "dynamo.compile"}));
  EXPECT_EQ(config["points"],
            (nlohmann::ordered_json::array({{{"name", "queue.put"}, {"at", "pkg.queue:Queue.put"}}})));
  EXPECT_EQ(config["locks"],
            (nlohmann::ordered_json::array({{{"name", "queue_lock"}, {"at", "pkg.queue:Queue.lock"}}})));
  EXPECT_EQ(config["config"], (nlohmann::ordered_json{{"torch._dynamo.config.x", false}, {"y", 3}}));
  EXPECT_EQ(config["tokens"], (nlohmann::ordered_json{{"at", "pkg.train:step"}, {"value", "0.tokens"}}));
}

TEST_F(Plans, TellTheAgentOfLinesAndActorsAndLeaveNativePointsToTheProgram) {
  scenario.points.push_back({"loss", "", "train.py:120", false, {}});
  scenario.points.push_back({"publish", "", "", false, {}});
  scenario.actors.resize(2);
  scenario.actors[0].name = "drafter{n}";
  scenario.actors[0].entry = "train:draft";
  scenario.actors[1].name = "rank1";
  scenario.actors[1].process_number = 1;
  scenario.actors[1].start = 0;
  const auto asked = ordered({"rank1 loss", "a publish.exit"});
  const auto places = used(asked);
  const auto config = agent_config(scenario, scenario.mitigations[0], places, "f", "s");
  using Json = nlohmann::ordered_json;
  EXPECT_EQ(config["lines"], Json::array({{{"name", "loss"}, {"line", "train.py:120"}}}));
  EXPECT_TRUE(config["points"].empty());
  EXPECT_EQ(config["actors"], Json::parse(R"([{"name": "drafter{n}", "entry": "train:draft"},
                                              {"name": "rank1", "process": 1, "start": 0}])"));
  const auto planned = plan(asked);
  const auto has = [&](const std::string& name, board::PointKind kind) {
    return std::any_of(planned.points.begin(), planned.points.end(),
                       [&](const auto& p) { return p.name == name && p.kind == kind; });
  };
  EXPECT_TRUE(has("loss", board::PointKind::plain));
  EXPECT_TRUE(has("publish.exit", board::PointKind::exit));
}

TEST_F(Plans, DoNotInstallThePointsThatATrialDoesNotUse) {
  scenario.tokens.reset();
  const auto locks_too = agent_config(scenario, scenario.mitigations[0], {"compiled_call"}, "f", "s");
  EXPECT_TRUE(locks_too["locks"].empty());
  scenario.locks.clear();
  const auto config = agent_config(scenario, scenario.mitigations[0], used({}), "f", "s");
  EXPECT_TRUE(config["points"].empty());
  EXPECT_TRUE(config["locks"].empty());
  EXPECT_FALSE(config.contains("tokens"));
  EXPECT_EQ(config["install"], (nlohmann::ordered_json{"compiled_call", "fx.trace", "compile_lock"}));
  EXPECT_EQ(config["config"], nlohmann::ordered_json::object());
}

} // namespace
} // namespace racelab::run::test

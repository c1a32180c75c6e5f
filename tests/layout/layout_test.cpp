#include "layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::layout {
namespace {

using testing::ElementsAre;
using testing::Pair;

scenario::Layout make(const std::string& name, std::vector<std::pair<std::string, std::vector<int>>> roles,
                      int required = 0) {
  scenario::Layout layout;
  layout.name = name;
  layout.roles = std::move(roles);
  layout.required_gpus = required;
  return layout;
}

// Five target GPUs, three drafters.
const scenario::Layout k_5t3d = make("5t3d", {{"target", {0, 1, 2, 3, 4}}, {"drafter", {5, 6, 7}}});
const scenario::Layout k_1t3d = make("1t3d", {{"target", {0}}, {"drafter", {1, 2, 3}}});

TEST(Devices, AreTheGpusThereAreOrTheCpu) {
  EXPECT_THAT(devices_of(0).names, ElementsAre("cpu"));
  EXPECT_FALSE(devices_of(0).gpus());
  EXPECT_THAT(devices_of(2).names, ElementsAre("cuda:0", "cuda:1"));
  EXPECT_TRUE(devices_of(1).gpus());
}

TEST(Placement, OnAsManyGpusAsAreNamedGivesEachItsOwn) {
  const Placement placement = place(k_5t3d, devices_of(8));
  EXPECT_THAT(placement.roles,
              ElementsAre(Pair("target", ElementsAre("cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4")),
                          Pair("drafter", ElementsAre("cuda:5", "cuda:6", "cuda:7"))));
  EXPECT_EQ(placement.text,
            "5t3d: 8 logical GPUs on 8: cuda:0 (target 0), cuda:1 (target 1), cuda:2 (target 2), cuda:3 "
            "(target 3), cuda:4 (target 4), cuda:5 (drafter 5), cuda:6 (drafter 6), cuda:7 (drafter 7)");
}

TEST(Placement, OnFewerGpusTakesThemInTurnAndSaysWhoSharesWhat) {
  const Placement placement = place(k_5t3d, devices_of(2));
  EXPECT_THAT(placement.roles,
              ElementsAre(Pair("target", ElementsAre("cuda:0", "cuda:1", "cuda:0", "cuda:1", "cuda:0")),
                          Pair("drafter", ElementsAre("cuda:1", "cuda:0", "cuda:1"))));
  EXPECT_EQ(placement.text,
            "5t3d: 8 logical GPUs on 2: cuda:0 (target 0,2,4, drafter 6), cuda:1 (target 1,3, drafter 5,7)");
}

TEST(Placement, OnOneGpuPutsEverybodyThere) {
  const Placement placement = place(k_1t3d, devices_of(1));
  EXPECT_THAT(placement.roles, ElementsAre(Pair("target", ElementsAre("cuda:0")),
                                           Pair("drafter", ElementsAre("cuda:0", "cuda:0", "cuda:0"))));
  EXPECT_EQ(placement.text, "1t3d: 4 logical GPUs on 1: cuda:0 (target 0, drafter 1,2,3)");
}

TEST(Placement, WithoutGpusIsTheProcessorAndSaysSo) {
  const Placement placement = place(k_1t3d, devices_of(0));
  EXPECT_THAT(placement.roles,
              ElementsAre(Pair("target", ElementsAre("cpu")), Pair("drafter", ElementsAre("cpu", "cpu", "cpu"))));
  EXPECT_EQ(placement.text, "1t3d on CPU: 4 logical GPUs are the same processor");
}

TEST(Placement, CountsDistinctLogicalGpusWhateverTheirNumbers) {
  const Placement placement = place(make("odd", {{"a", {7, 3, 7}}, {"b", {3}}}), devices_of(2));
  EXPECT_THAT(placement.roles, ElementsAre(Pair("a", ElementsAre("cuda:1", "cuda:0", "cuda:1")), // 3 comes before 7
                                           Pair("b", ElementsAre("cuda:0"))));
  EXPECT_EQ(placement.text, "odd: 2 logical GPUs on 2: cuda:0 (a 3, b 3), cuda:1 (a 7,7)");
}

TEST(Placement, UsesTheDevicesThatWereChosen) {
  const Devices chosen{{"cuda:2", "cuda:5"}};
  EXPECT_THAT(place(k_1t3d, chosen).roles[1].second, ElementsAre("cuda:5", "cuda:2", "cuda:5"));
}

TEST(Placement, WithoutRolesNamesWhatIsThere) {
  EXPECT_EQ(place(make("none", {}), devices_of(2)).text, "2 GPU(s)");
  EXPECT_EQ(place(make("none", {}), devices_of(0)).text, "CPU");
}

TEST(RequiredGpus, SkipTheCellWithAReasonWhereThereAreFewer) {
  const auto needs_two = make("pair", {{"a", {0}}, {"b", {1}}}, 2);
  EXPECT_FALSE(place(needs_two, devices_of(2)).skip);
  EXPECT_FALSE(place(needs_two, devices_of(8)).skip);
  EXPECT_EQ(place(needs_two, devices_of(1)).skip, "layout pair requires 2 GPUs, 1 at hand");
  EXPECT_EQ(place(needs_two, devices_of(0)).skip, "layout pair requires 2 GPUs, 0 at hand");
  EXPECT_FALSE(place(k_5t3d, devices_of(0)).skip);
}

TEST(Placeholders, AreReplacedByDevicesCountsAndTheScenariosFolder) {
  const Placement placement = place(k_1t3d, devices_of(2));
  EXPECT_EQ(fill_placeholders(
                "--target={layout.target} --drafters={layout.drafter} -n {layout.drafter.count} {scenario.dir}/x",
                placement, "/s"),
            "--target=cuda:0 --drafters=cuda:1,cuda:0,cuda:1 -n 3 /s/x");
  EXPECT_EQ(fill_placeholders("{layout.target}{layout.target}", placement, "/s"), "cuda:0cuda:0");
}

TEST(Placeholders, ThatNobodyDefinesStayAsTheyAre) {
  const Placement placement = place(k_1t3d, devices_of(1));
  for (const char* text : {"{layout.draft}", "{layout.drafter", "{}", "{\"json\": 1}", "{layout.target.size}"})
    EXPECT_EQ(fill_placeholders(text, placement, "/s"), text);
}

TEST(Placeholders, AreNotLookedForInWhatTheyAreReplacedBy) {
  EXPECT_EQ(fill_placeholders("{scenario.dir}", {}, "/{scenario.dir}"), "/{scenario.dir}");
}

} // namespace
} // namespace racelab::layout

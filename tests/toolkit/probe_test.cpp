// From what the agent's probe prints to a toolkit.
#include "support.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::toolkit::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Probe, IsReadAsTheToolkitThatItDescribes) {
  const Toolkit t = from_probe("mine", probe());
  EXPECT_EQ(t.name, "mine");
  EXPECT_EQ(t.python_version, "3.12.1");
  EXPECT_EQ(t.torch, "2.9.0");
  EXPECT_EQ(t.torch_git, "abc123");
  EXPECT_EQ(t.triton, "");
  EXPECT_EQ(t.cuda, "");
  EXPECT_THAT(t.gpus, IsEmpty());
  EXPECT_EQ(t.features.at("fx_flag"), "global");
  EXPECT_EQ(t.missing_points.at("flex.joint"), "AttributeError: no");
  EXPECT_EQ(t.error, "");
}

TEST(Probe, NamesGpusAndDriver) {
  auto says = probe();
  says["gpus"] = {{{"name", "NVIDIA X"}, {"memory_bytes", 1}}, {{"name", "NVIDIA Y"}, {"memory_bytes", 1}}};
  says["driver"] = "570";
  says["cuda"] = "12.8";
  says["triton"] = "3.5";
  const Toolkit t = from_probe("mine", says);
  EXPECT_THAT(t.gpus, ElementsAre("NVIDIA X", "NVIDIA Y"));
  EXPECT_EQ(t.driver, "570");
  EXPECT_EQ(t.cuda, "12.8");
  EXPECT_EQ(t.triton, "3.5");
}

TEST(Probe, WithoutTorchSaysWhy) {
  auto says = probe();
  says["torch"] = nullptr;
  says["error"] = "torch cannot be imported: No module named 'torch'";
  EXPECT_EQ(from_probe("mine", says).error, "torch cannot be imported: No module named 'torch'");
}

TEST(Fingerprint, DoesNotDependOnTheName) {
  EXPECT_EQ(from_probe("a", probe()).fingerprint, from_probe("b", probe()).fingerprint);
}

TEST(Fingerprint, ChangesWithEverythingThatCanChangeWhatACompileMakes) {
  std::set<std::string> seen{from_probe("t", probe()).fingerprint};
  const auto differs = [&](const char* key, const nlohmann::json& value) {
    auto says = probe();
    says[key] = value;
    EXPECT_TRUE(seen.insert(from_probe("t", says).fingerprint).second) << key;
  };
  differs("python", "3.12.2");
  differs("torch", "2.9.1");
  differs("torch_git", "abc124");
  differs("triton", "3.5");
  differs("cuda", "12.8");
  differs("driver", "570");
  differs("gpus", {{{"name", "NVIDIA X"}}});
  differs("packages", {"numpy 2.1", "torch 2.9.0"});
}

TEST(Probe, ThatIsSomethingElseIsAnException) {
  for (const char* key : {"gpus", "features", "missing_points", "packages"}) {
    auto says = probe();
    says.erase(key);
    EXPECT_THROW(from_probe("t", says), std::exception) << key;
  }
}

} // namespace
} // namespace racelab::toolkit::test

// An interpreter is asked once, until its packages or the agent change.
#include "support.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::toolkit::test {
namespace {

namespace fs = std::filesystem;

class Memo : public Toolkits {
protected:
  Memo() { make_python(prefix, probe()); }

  // As another run of racelab would.
  static Toolkit get() { return InstalledToolkits().get("t"); }
  void expect_asked_again(const std::string& because) {
    const int before = times_asked(prefix);
    get();
    EXPECT_EQ(times_asked(prefix), before + 1) << because;
    get();
    EXPECT_EQ(times_asked(prefix), before + 1) << because;
  }

  const std::string prefix = *this / "toolkits/t";
};

TEST_F(Memo, IsUsedInTheNextRun) {
  const Toolkit first = get();
  const Toolkit second = get();
  EXPECT_EQ(times_asked(prefix), 1);
  EXPECT_EQ(second.fingerprint, first.fingerprint);
  EXPECT_EQ(second.features, first.features);
  EXPECT_EQ(second.python, first.python);
}

TEST_F(Memo, IsNotNeededTwiceInOneRun) {
  InstalledToolkits source;
  source.get("t");
  fs::remove_all(*this / "cache");
  fs::remove_all(prefix);
  EXPECT_EQ(source.get("t").torch, "2.9.0");
}

TEST_F(Memo, IsRefreshedWhenPackagesChange) {
  get();
  put(prefix + "/lib/python3.12/site-packages/new_package.py", "");
  expect_asked_again("a package came");
  fs::remove(prefix + "/lib/python3.12/site-packages/new_package.py");
  expect_asked_again("a package went");
  put(prefix + "/lib/python3.12/site-packages/torch/version.py", "__version__ = '3'");
  expect_asked_again("another torch");
}

TEST_F(Memo, IsRefreshedWhenTheInterpreterTheAgentOrTheGpusChange) {
  get();
  make_python_that(prefix, "cat '" + prefix + "/says.json' # changed");
  expect_asked_again("another interpreter");
  put(*this / "agent/racelab_agent/probe.py", "# changed");
  expect_asked_again("another probe");
  put(*this / "agent/racelab_agent/catalogue.json", R"({"points": []})");
  expect_asked_again("another catalogue");
  set("CUDA_VISIBLE_DEVICES", "1");
  expect_asked_again("other GPUs");
}

TEST_F(Memo, HasTheNewAnswerAfterwards) {
  get();
  auto says = probe();
  says["torch"] = "3.0";
  put(prefix + "/says.json", says.dump());
  EXPECT_EQ(get().torch, "2.9.0"); // nothing that it looks at has changed
  put(prefix + "/lib/python3.12/site-packages/torch/version.py", "3.0");
  EXPECT_EQ(get().torch, "3.0");
}

TEST_F(Memo, ThatIsDamagedIsNotUsed) {
  for (const char* damage : {"", "{", "[]", "{}", R"({"state": 1, "probe": 1})"}) {
    get();
    for (const auto& file : fs::directory_iterator(*this / "cache/racelab/probes"))
      put(file.path().string(), damage);
    expect_asked_again(damage);
  }
}

TEST_F(Memo, WithTheRightStateButAWrongAnswerIsNotUsed) {
  get();
  for (const char* key : {"probe", "features"}) {
    for (const auto& file : fs::directory_iterator(*this / "cache/racelab/probes")) {
      auto kept = nlohmann::json::parse(read(file.path().string()));
      (std::string(key) == "probe" ? kept : kept["probe"]).erase(key);
      put(file.path().string(), kept.dump());
    }
    expect_asked_again(key);
  }
}

TEST_F(Memo, IsNotNeededWhereItCannotBeKept) {
  put(*this / "a file", "");
  set("XDG_CACHE_HOME", *this / "a file");
  EXPECT_EQ(get().torch, "2.9.0");
  EXPECT_EQ(get().torch, "2.9.0");
  EXPECT_EQ(times_asked(prefix), 2);
}

} // namespace
} // namespace racelab::toolkit::test

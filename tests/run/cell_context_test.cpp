// What the trials of a cell have in common, and what a warm cache depends on.
#include "run/cell_context.h"

#include "base/error.h"
#include "support.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::run::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

class CellContexts : public testing::Test {
protected:
  CellContexts() {
    put(folder / "agent/libracelab_agent.so", "");
    setenv("RACELAB_AGENT_DIR", (folder / "agent").c_str(), 1);
    toolkit.python = "/t/bin/python";
    toolkit.fingerprint = "f00d";
    scenario.directory = folder.path();
    scenario.pipeline.directory = folder.path();
    scenario.pipeline.command = {"python", "train.py", "--devices={layout.drafter}"};
    put(folder / "train.py", "print(1)");
  }
  ~CellContexts() override {
    for (const char* name : {"RACELAB_AGENT_DIR", "PYTHONPATH", "OMP_NUM_THREADS", "MY_SECRET"})
      unsetenv(name);
  }

  CellContext resolve(int gpus = 2) const {
    return resolve_cell(scenario, {"cold/free", "current", "cold", "1t3d", "free", "none", 1}, toolkit,
                        layout::devices_of(gpus));
  }
  std::string key() const { return snapshot_key(resolve(), folder.path()); }

  Folder folder;
  scenario::Scenario scenario = small_scenario();
  toolkit::Toolkit toolkit;
};

TEST_F(CellContexts, RunPythonWithTheToolkitsInterpreterAndFillPlaceholders) {
  const CellContext context = resolve();
  EXPECT_TRUE(context.python);
  EXPECT_THAT(context.argv, ElementsAre("/t/bin/python", "train.py", "--devices=cuda:1,cuda:0,cuda:1"));
  EXPECT_THAT(context.environment, Contains(Pair("RACELAB_LAYOUT_DRAFTER", "cuda:1,cuda:0,cuda:1")));
  EXPECT_THAT(context.environment, Contains(Pair("RACELAB_LAYOUT_TARGET", "cuda:0")));
}

TEST_F(CellContexts, FindOtherProgramsInThePathOrBesideTheScenario) {
  scenario.pipeline.command = {"sh", "-c", "true"};
  EXPECT_FALSE(resolve().python);
  EXPECT_THAT(resolve().argv[0], testing::EndsWith("/sh"));
  EXPECT_EQ(resolve().argv[0][0], '/');
  put(folder / "bin/tool", "#!/bin/sh");
  std::filesystem::permissions(folder / "bin/tool", std::filesystem::perms(0755));
  scenario.pipeline.command = {"./bin/tool"};
  EXPECT_EQ(resolve().argv[0], folder / "bin/tool");
}

TEST_F(CellContexts, TellNativeProgramsTheToolkitsInterpreter) {
  EXPECT_THAT(resolve().environment, Not(Contains(Key("RACELAB_TOOLKIT_PYTHON"))));
  scenario.pipeline.command = {"sh", "-c", "true"};
  EXPECT_THAT(resolve().environment, Contains(Pair("RACELAB_TOOLKIT_PYTHON", "/t/bin/python")));
}

TEST_F(CellContexts, HaveAnotherSnapshotKeyWhenANativeProgramIsBuiltAnew) {
  const auto build = [&](const char* bytes) {
    put(folder / "tool", bytes);
    std::filesystem::permissions(folder / "tool", std::filesystem::perms(0755));
  };
  scenario.pipeline.command = {"./tool"};
  build("one");
  const std::string before = key();
  EXPECT_EQ(key(), before);
  build("another");
  EXPECT_NE(key(), before);
}

TEST_F(CellContexts, RefuseProgramsThatAreNotThere) {
  for (const char* program : {"no-such-program", "./nothing", "./train.py", "./agent"}) {
    scenario.pipeline.command = {program};
    try {
      resolve();
      FAIL() << program;
    } catch (const base::UserError& error) {
      EXPECT_EQ(error.code(), base::ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("pipeline.command"));
    }
  }
}

TEST_F(CellContexts, RefuseAScriptThatIsNotThere) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"python", "nothing.py"},
                                                  {"python", "-u", "nothing.py", "train.py"},
                                                  {"python3", "-W", "ignore", "nothing.py"}}) {
    scenario.pipeline.command = command;
    try {
      resolve();
      FAIL() << command[1];
    } catch (const base::UserError& error) {
      EXPECT_EQ(error.code(), base::ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("no file nothing.py"));
    }
  }
}

TEST_F(CellContexts, KnowTheInterpretersOptionsFromItsScript) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"python", "-m", "nothing"},
                                                  {"python", "-c", "print(1)"},
                                                  {"python", "-uc", "print(1)"},
                                                  {"python", "-mnothing", "nothing"},
                                                  {"python", "-u", "train.py", "nothing"},
                                                  {"python", "-W", "ignore", "-X", "dev", "train.py"},
                                                  {"python", "-Wignore", "-uX", "dev", "train.py"},
                                                  {"python", "--check-hash-based-pycs", "always", "train.py"},
                                                  {"python"}}) {
    scenario.pipeline.command = command;
    EXPECT_NO_THROW(resolve()) << testing::PrintToString(command);
  }
}

TEST_F(CellContexts, RefuseAWorkingDirectoryThatIsNotThere) {
  scenario.pipeline.directory = folder / "nowhere";
  EXPECT_THROW(resolve(), base::UserError);
}

TEST_F(CellContexts, InheritOnlyWhatIsAllowedAndPutTheAgentFirst) {
  setenv("MY_SECRET", "x", 1);
  setenv("OMP_NUM_THREADS", "3", 1);
  setenv("PYTHONPATH", "/own", 1);
  const auto environment = clean_environment();
  EXPECT_THAT(environment, Not(Contains(Key("MY_SECRET"))));
  EXPECT_THAT(environment, Not(Contains(Key("RACELAB_AGENT_DIR"))));
  EXPECT_THAT(environment, Contains(Pair("OMP_NUM_THREADS", "3")));
  EXPECT_THAT(environment, Contains(Key("PATH")));
  const auto agent = std::filesystem::canonical(folder / "agent").string();
  EXPECT_THAT(environment, Contains(Pair("PYTHONPATH", agent + ":/own")).Times(1));
}

TEST_F(CellContexts, LetTheScenarioAndThenTheMitigationOverrideTheEnvironment) {
  setenv("OMP_NUM_THREADS", "3", 1);
  scenario.pipeline.env = {{"OMP_NUM_THREADS", "4"}, {"WHERE", "{scenario.dir}/x"}, {"M", "pipeline"}};
  scenario.mitigations[0].env = {{"M", "{layout.drafter.count}"}};
  const auto environment = resolve().environment;
  EXPECT_THAT(environment, Contains(Pair("OMP_NUM_THREADS", "4")));
  EXPECT_THAT(environment, Contains(Key("OMP_NUM_THREADS")).Times(1));
  EXPECT_THAT(environment, Contains(Pair("WHERE", folder / "x")));
  EXPECT_THAT(environment, Contains(Pair("M", "3")));
}

TEST_F(CellContexts, OfTheSameCellHaveTheSameSnapshotKey) {
  EXPECT_EQ(key(), key());
}

TEST_F(CellContexts, HaveAnotherSnapshotKeyWhenAnythingChangesThatACacheDependsOn) {
  std::set<std::string> seen{key()};
  const auto differs = [&](const char* because) { EXPECT_TRUE(seen.insert(key()).second) << because; };
  put(folder / "train.py", "print(2)");
  differs("the program");
  put(folder / "model.py", "x = 1");
  differs("a module beside it");
  put(folder / "model.py", "x = 2");
  differs("another text of that module");
  std::filesystem::rename(folder / "model.py", folder / "models.py");
  differs("another name of that module");
  scenario.pipeline.env = {{"A", "1"}};
  differs("the environment");
  scenario.pipeline.env = {{"A", "2"}};
  differs("a value in it");
  scenario.pipeline.command.emplace_back("--more");
  differs("the command line");
  scenario.mitigations[0].config = {{"torch._dynamo.config.x", true}};
  differs("the mitigation's settings");
  scenario.mitigations[0].env = {{"B", "1"}};
  differs("the mitigation's environment");
  toolkit.fingerprint = "beef";
  differs("the toolkit");
  EXPECT_TRUE(seen.insert(snapshot_key(resolve(1), folder.path())).second) << "the layout on other devices";
}

TEST_F(CellContexts, KeepTheirSnapshotKeyWhenSomethingElseChanges) {
  const std::string before = key();
  put(folder / "notes.txt", "nothing to do with it");
  put(folder / "elsewhere/other.py", "not the program's folder");
  scenario.about = "another text";
  toolkit.name = "the same under another name";
  EXPECT_EQ(key(), before);
}

} // namespace
} // namespace racelab::run::test

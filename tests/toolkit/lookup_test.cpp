// Which interpreter a toolkit's name stands for.
#include "support.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::toolkit::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Lookup : public Toolkits {
protected:
  InstalledToolkits source;
};

TEST_F(Lookup, FindsANamedToolkitInTheToolkitsFolder) {
  const std::string python = make_python(*this / "toolkits/torch-2.9", probe());
  const Toolkit t = source.get("torch-2.9");
  EXPECT_EQ(t.name, "torch-2.9");
  EXPECT_EQ(t.python, python);
  EXPECT_EQ(t.torch, "2.9.0");
}

TEST_F(Lookup, FindsANamedToolkitInTheCacheFolder) {
  const std::string python = make_python(*this / "cache/racelab/toolkits/by-name/torch-2.8", probe());
  EXPECT_EQ(source.get("torch-2.8").python, python);
}

TEST_F(Lookup, PrefersTheToolkitsFolderToTheCacheFolder) {
  make_python(*this / "cache/racelab/toolkits/by-name/twice", probe());
  const std::string python = make_python(*this / "toolkits/twice", probe());
  EXPECT_EQ(source.get("twice").python, python);
}

TEST_F(Lookup, TakesAPathForAnInterpreter) {
  const std::string python = make_python(*this / "somewhere", probe());
  EXPECT_EQ(source.get(python).python, python);
}

TEST_F(Lookup, RefusesAPathToWhatCannotBeRun) {
  put(*this / "file", "");
  for (const std::string& path : {*this / "nothing", *this / "file", *this / "toolkits"})
    EXPECT_THAT(failure(source, path), AllOf(HasSubstr(path), HasSubstr("no such interpreter")));
}

TEST_F(Lookup, OfCurrentPrefersTheVariableThenTheFolderThenThePath) {
  const std::string in_path = make_python(*this / "path_prefix", probe(), "python3");
  fs::create_symlink(in_path, *this / "path/python3");
  EXPECT_EQ(InstalledToolkits().get("current").python, *this / "path/python3");
  const std::string in_folder = make_python(*this / "toolkits/current", probe());
  EXPECT_EQ(InstalledToolkits().get("current").python, in_folder);
  const std::string in_variable = make_python(*this / "variable", probe());
  set("RACELAB_PYTHON", in_variable);
  EXPECT_EQ(InstalledToolkits().get("current").python, in_variable);
}

TEST_F(Lookup, OfTheVariableGoesThroughThePathWhereItIsABareName) {
  fs::create_symlink(make_python(*this / "other", probe(), "python3.12"), *this / "path/python3.12");
  set("RACELAB_PYTHON", "python3.12");
  EXPECT_EQ(source.get("current").python, *this / "path/python3.12");
}

TEST_F(Lookup, NamesTheVariableWhoseProgramIsNotInThePath) {
  set("RACELAB_PYTHON", "python9");
  EXPECT_THAT(failure(source, "current"), AllOf(HasSubstr("RACELAB_PYTHON"), HasSubstr("python9")));
}

TEST_F(Lookup, OfCurrentSaysWhatWasTriedWhereThereIsNone) {
  EXPECT_THAT(failure(source, "current"),
              AllOf(HasSubstr("no Python"), HasSubstr("$RACELAB_PYTHON"), HasSubstr("python3 in PATH")));
}

TEST_F(Lookup, SaysWhichNamesThereAreWhereItHasNone) {
  make_python(*this / "toolkits/torch-2.9", probe());
  EXPECT_THAT(failure(source, "torch-2.8"), AllOf(HasSubstr("no toolkit 'torch-2.8'"),
                                                  HasSubstr("there is current, torch-2.9"), HasSubstr("ci/setup")));
}

TEST_F(Lookup, DoesNotTakeCurrentFromTheVariableForAnotherName) {
  set("RACELAB_PYTHON", make_python(*this / "variable", probe()));
  EXPECT_THAT(failure(source, "another"), HasSubstr("no toolkit 'another'"));
}

TEST_F(Lookup, AsksTheInterpreterWithTheAgentOnItsPath) {
  make_python(*this / "toolkits/t", probe());
  source.get("t");
  EXPECT_EQ(read(*this / "toolkits/t/asked"), "-m racelab_agent.probe|" + (*this / "agent") + "\n");
}

TEST_F(Lookup, FailsWithWhatTheInterpreterSaidWhereItFails) {
  make_python_that(*this / "toolkits/broken", "echo 'No module named encodings' >&2; exit 3");
  EXPECT_THAT(failure(source, "broken"),
              AllOf(HasSubstr("cannot say what it is (exit 3)"), HasSubstr("No module named encodings")));
}

TEST_F(Lookup, FailsWhereTheInterpreterPrintsSomethingElse) {
  make_python_that(*this / "toolkits/chatty", "echo hello");
  EXPECT_THAT(failure(source, "chatty"), HasSubstr("cannot say what it is"));
  auto old = probe();
  old.erase("features");
  make_python(*this / "toolkits/old", old);
  EXPECT_THAT(failure(source, "old"), HasSubstr("cannot say what it is"));
  EXPECT_THAT(failure(source, "old"), HasSubstr("cannot say what it is")); // not remembered as if it were right
}

TEST_F(Lookup, DoesNotMindATextOnStderrNextToTheAnswer) {
  put(*this / "says.json", probe().dump());
  make_python_that(*this / "toolkits/loud", "echo warning >&2; cat '" + (*this / "says.json") + "'");
  EXPECT_EQ(source.get("loud").torch, "2.9.0");
}

TEST_F(Lookup, ListsTheNamesThatItWouldFind) {
  make_python(*this / "toolkits/b", probe());
  make_python(*this / "toolkits/a", probe());
  make_python(*this / "toolkits/current", probe());
  make_python(*this / "cache/racelab/toolkits/by-name/c", probe());
  make_python(*this / "cache/racelab/toolkits/by-name/a", probe());
  put(*this / "toolkits/README", "no toolkit");
  fs::create_directories(*this / "toolkits/half-installed/bin");
  EXPECT_THAT(source.names(), ElementsAre("current", "a", "b", "c"));
}

TEST_F(Lookup, KnowsAnAddedPathByItsFoldersName) {
  const std::string python = make_python(*this / "my env", probe());
  EXPECT_EQ(source.add(python), "my_env");
  EXPECT_EQ(source.get("my_env").python, python);
  EXPECT_EQ(source.add("plain"), "plain");
  EXPECT_THAT(source.names(), ElementsAre("current", "my_env"));
}

TEST_F(Lookup, KnowsAnAddedPathByTheNameItWasGiven) {
  const std::string python = make_python(*this / "x", probe());
  make_python(*this / "toolkits/mine", probe());
  EXPECT_EQ(source.add("mine=" + python), "mine");
  EXPECT_EQ(source.get("mine").python, python); // before one of the folder
  EXPECT_EQ(source.add("current=" + python), "current");
  EXPECT_EQ(source.get("current").python, python);
  EXPECT_THAT(source.names(), ElementsAre("current", "mine"));
}

TEST_F(Lookup, KeepsTwoAddedPathsWhoseFoldersHaveTheSameNameApart) {
  const std::string one = make_python(*this / "one/venv", probe()), two = make_python(*this / "two/venv", probe());
  const std::string first = source.add(one), second = source.add(two);
  EXPECT_NE(first, second);
  EXPECT_EQ(source.add(one), first);
  EXPECT_EQ(source.get(first).python, one);
  EXPECT_EQ(source.get(second).python, two);
}

TEST_F(Lookup, TakesAnEqualsSignBehindASlashForAPartOfThePath) {
  const std::string python = make_python(*this / "a=b", probe());
  const std::string name = source.add(python);
  EXPECT_THAT(name, Not(HasSubstr("=")));
  EXPECT_EQ(source.get(name).python, python);
}

} // namespace
} // namespace racelab::toolkit::test

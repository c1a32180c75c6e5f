// `racelab cache`, as a person and a script meet it.
#include "../cache/pickles.h"
#include "../cache/support.h"

#include "base/subprocess.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace racelab::cli {
namespace {

namespace fs = std::filesystem;
using cache::test::contents;
using cache::test::put;
using cache::test::put_small_cache;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class CacheVerb : public testing::Test {
protected:
  CacheVerb() {
    cache = put_small_cache(folder / "a");
    put_small_cache(folder / "b");
    put_small_cache(folder / "b", 'b', "2.15.0");
    fs::create_directory(folder / "home");
  }

  base::Captured racelab(std::vector<std::string> arguments, base::Environment more = {}) {
    arguments.insert(arguments.begin(), {RACELAB_PROGRAM, "cache"});
    more.insert(more.end(), {{"HOME", folder / "home"}, {"TMPDIR", folder / "home"}, {"PATH", "/usr/bin:/bin"}});
    const auto ended = base::run_and_capture(arguments, more, std::chrono::seconds(30));
    EXPECT_TRUE(ended) << ended.error();
    return ended.value_or(base::Captured{-1, "", ""});
  }

  test::Folder folder;
  cache::test::SmallCache cache;
};

TEST_F(CacheVerb, ShowsWhatIsThereAndWhoWroteIt) {
  const auto shown = racelab({"show", folder / "a"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("Inductor, Triton:"), HasSubstr("4 entries, 7 files"),
                    HasSubstr("torch 2.11.0 (0123456789), CUDA 13.0, triton 3.6.0"), HasSubstr("/elsewhere/inductor"),
                    HasSubstr("Python's version"), Not(HasSubstr("damaged"))));
}

TEST_F(CacheVerb, ShowsTheUsersOwnCachesWhereNoneIsNamed) {
  const auto shown = racelab({"show"}, {{"USER", "some:body"}, {"TRITON_CACHE_DIR", folder / "a/triton"}});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("home/torchinductor_some_body\n  there is none"), HasSubstr("a/triton"),
                               HasSubstr("home/.nv/ComputeCache\n  there is none")));
}

TEST_F(CacheVerb, OpensADifferenceWithBeforeAndAfter) {
  const auto differs = racelab({"diff", folder / "a", folder / "b"});
  EXPECT_EQ(differs.exit_code, 0) << differs.err;
  EXPECT_THAT(differs.out,
              StartsWith("2.29 kB and 4 entries before, 4.57 kB and 8 entries after, written by 2 toolkits"));
  EXPECT_THAT(differs.out, HasSubstr("torch 2.15.0"));
}

TEST_F(CacheVerb, ExitsWithOneWhereSomethingIsDamaged) {
  EXPECT_EQ(racelab({"verify", folder / "a"}).exit_code, 0);
  put(folder / "a/" + cache.aot, "x\x1b[31m");
  const auto damaged = racelab({"verify", folder / "a"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, AllOf(HasSubstr("1 of 7 files"), HasSubstr(cache.aot),
                                 HasSubstr("does not begin as a pickle"), HasSubstr("checked")));
}

TEST_F(CacheVerb, WritesJsonForMachinesAndTextForPeopleElsewhere) {
  const auto both = racelab({"diff", folder / "a", folder / "b", "--json", "-"});
  const auto json = nlohmann::json::parse(both.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << both.out;
  EXPECT_EQ(json["total"]["more"], 5);
  EXPECT_EQ(json["after"]["total"]["entries"], 8);
  EXPECT_EQ(json["before"]["writers"]["torch"][0]["torch"], "2.11.0");
  EXPECT_THAT(both.err, HasSubstr("entries before"));
  ASSERT_EQ(racelab({"verify", folder / "a", "--json", folder / "out.json"}).exit_code, 0);
  EXPECT_TRUE(nlohmann::json::parse(contents(folder / "out.json"))["caches"][0]["whole"]);
}

TEST_F(CacheVerb, WritesJsonIntoWhatIsNoPlainFileAndLeavesItWhatItIs) {
  put(folder / "real.json", "");
  fs::create_symlink(folder / "real.json", folder / "link.json");
  ASSERT_EQ(racelab({"verify", folder / "a", "--json", folder / "link.json"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_TRUE(nlohmann::json::accept(contents(folder / "real.json")));
  fs::create_symlink("/dev/full", folder / "full"); // a link, since root could replace the device itself
  const auto full = racelab({"verify", folder / "a", "--json", folder / "full"});
  EXPECT_EQ(full.exit_code, 8);
  EXPECT_THAT(full.err, HasSubstr("cannot be written: No space left on device"));
  EXPECT_TRUE(fs::is_symlink(folder / "full"));
}

TEST_F(CacheVerb, ExitsWithEightWhereStdoutIsFull) {
  for (const char* part : {"show", "verify", "list"}) {
    const std::string command = std::string(RACELAB_PROGRAM) + " cache " + part +
                                (std::string(part) == "list" ? "" : " '" + (folder / "a") + "' --json -") +
                                " >/dev/full";
    const auto ended =
        base::run_and_capture({"/bin/sh", "-c", command}, {{"HOME", folder / "home"}}, std::chrono::seconds(30));
    ASSERT_TRUE(ended) << ended.error();
    EXPECT_EQ(ended->exit_code, 8) << part;
    EXPECT_THAT(ended->err, HasSubstr("stdout: cannot be written")) << part;
  }
}

TEST_F(CacheVerb, KeepsACopyAndBringsItBack) {
  EXPECT_EQ(racelab({"snapshot", folder / "a", "before"}).exit_code, 0);
  EXPECT_THAT(racelab({"list"}).out, AllOf(HasSubstr("before"), HasSubstr(folder / "a")));
  EXPECT_EQ(racelab({"verify", "before"}).exit_code, 0);
  EXPECT_THAT(racelab({"diff", "before", folder / "a"}).out, HasSubstr("written by the same toolkit"));
  EXPECT_EQ(racelab({"restore", "before", folder / "b"}).exit_code, 2);
  EXPECT_EQ(racelab({"restore", "before", folder / "b", "--replace"}).exit_code, 0);
  EXPECT_EQ(cache::test::listing(folder / "b"), cache::test::listing(folder / "a"));
  put(folder / "home/.cache/racelab/kept/before/content/inductor/locks/more", "");
  const auto changed = racelab({"verify", "before"});
  EXPECT_EQ(changed.exit_code, 1);
  EXPECT_THAT(changed.out, HasSubstr("inductor/locks/more was not kept"));
}

TEST_F(CacheVerb, SaysWhatItCannotDo) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"shwo"}, "did you mean 'show'"},
      {{"show", folder / "home"}, ""},
      {{"show", "nowhere"}, "there is neither a folder nor a snapshot nowhere"},
      {{"show", RACELAB_PROGRAM}, "Not a directory"},
      {{"show", "/etc/passwd"}, "Not a directory"}, // not executable either
      {{"diff", folder / "a"}, "AFTER"},
      {{"snapshot", folder / "a", "../x"}, "cannot be a snapshot's name"},
      {{"snapshot", folder / "nowhere", "x"}, "is no folder"},
      {{"restore", "nothing", folder / "c"}, "there is no snapshot nothing"},
      {{"show", folder / "a", "--toolkit", "none"}, "no torch is installed there"},
      {{}, ""},
  };
  for (const auto& [arguments, message] : cases) {
    const auto ended = racelab(arguments);
    EXPECT_EQ(ended.exit_code, *message == '\0' && !arguments.empty() ? 0 : 2) << message;
    EXPECT_THAT(ended.err, HasSubstr(message));
  }
  EXPECT_FALSE(fs::exists(folder / "home/.cache"));
}

TEST_F(CacheVerb, LetsNoNameReachTheTerminal) {
  put(folder / "a/inductor/fxgraph/aa/" + cache::test::key_of('f', 'a') + "/\x1b]0;title\n", "x");
  for (const char* part : {"show", "verify"})
    EXPECT_THAT(racelab({part, folder / "a", "--color", "always"}).out,
                AllOf(HasSubstr("\\x1b]0;title\\n"), Not(HasSubstr("\x1b]"))));
  EXPECT_EQ(racelab({"show", folder / "a", "--json", "-"}).exit_code, 0);
}

TEST_F(CacheVerb, HasHelpForEachPart) {
  EXPECT_THAT(racelab({"--help"}).out, HasSubstr("snapshot"));
  for (const char* part : {"show", "diff", "verify", "snapshot", "restore", "list"})
    EXPECT_THAT(racelab({part, "--help"}).out, HasSubstr("racelab cache " + std::string(part)));
}

} // namespace
} // namespace racelab::cli

// Copies that a user keeps: whole or not there, and so is what they bring back.
#include "cache/kept.h"

#include "base/error.h"
#include "base/files.h"
#include "pickles.h"
#include "support.h"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class KeptCopies : public testing::Test {
protected:
  KeptCopies() {
    cache = put_small_cache(folder / "cache");
    fs::permissions(folder / "cache/" + cache.code, fs::perms::owner_read);
  }
  base::ExitCode code_of(const std::function<void()>& part) {
    try {
      part();
    } catch (const base::UserError& error) {
      message = error.what();
      return error.code();
    }
    return base::ExitCode::ok;
  }

  Folder folder;
  SmallCache cache;
  KeptCaches store{folder / "kept", folder / "snapshots"};
  std::string message;
};

TEST_F(KeptCopies, AreBroughtBackAsTheyWere) {
  const Kept kept = store.keep(folder / "cache", "before-upgrade");
  store.restore(*store.find("before-upgrade"), folder / "back", false);
  EXPECT_EQ(listing(folder / "back"), listing(folder / "cache"));
  EXPECT_EQ(contents(folder / "back/" + cache.graph), contents(folder / "cache/" + cache.graph));
  EXPECT_EQ(mode_of(folder / "back/" + cache.code), 0400U);
  EXPECT_THAT(compare_with_manifest(kept, folder / "back"), IsEmpty());
}

TEST_F(KeptCopies, HaveAManifestThatSeesEveryChange) {
  const Kept kept = store.keep(folder / "cache", "one");
  put(kept.content + "/" + cache.aot, "changed");
  put(kept.content + "/new", "");
  fs::remove(kept.content + "/" + cache.graph);
  fs::permissions(kept.content + "/" + cache.code, fs::perms::owner_all);
  EXPECT_THAT(compare_with_manifest(*store.find("one"), kept.content),
              testing::UnorderedElementsAre(cache.aot + " has another content than was kept",
                                            cache.graph + " is missing",
                                            cache.code + " has mode 0700 where 0400 was kept", "new was not kept"));
}

TEST_F(KeptCopies, HaveFilesWhoseNamesAreNoUtf8) {
  const std::string names[] = {"inductor/other/\xff", "inductor/other/\xfe"};
  for (const std::string& name : names)
    put(folder / "cache/" + name, name);
  fs::create_symlink("\xfd", folder / "cache/inductor/other/link");
  store.keep(folder / "cache", "one");
  const Kept kept = *store.find("one");
  EXPECT_THAT(compare_with_manifest(kept, kept.content), IsEmpty());
  store.restore(kept, folder / "back", false);
  EXPECT_EQ(listing(folder / "back"), listing(folder / "cache"));
  EXPECT_EQ(contents(folder / "back/" + names[0]), names[0]);
}

TEST_F(KeptCopies, AreNeitherCopiedNorReplacedThemselves) {
  KeptCaches inside(folder / "cache/racelab/kept", folder / "snapshots");
  EXPECT_EQ(code_of([&] { inside.keep(folder / "cache", "one"); }), base::ExitCode::usage);
  EXPECT_THAT(message, HasSubstr("has the snapshots themselves in it"));
  const Kept kept = store.keep(folder / "cache", "one");
  for (const char* target : {"", "kept", "kept/one", "kept/one/content", "kept/new"})
    EXPECT_EQ(code_of([&] { store.restore(kept, folder / target, true); }), base::ExitCode::usage) << target;
  EXPECT_THAT(compare_with_manifest(kept, kept.content), IsEmpty());
  fs::create_directory(folder / "kept-too");
  store.restore(kept, folder / "kept-too", false);
}

TEST_F(KeptCopies, CannotBeBroughtToNowhere) {
  const Kept kept = store.keep(folder / "cache", "one");
  EXPECT_EQ(code_of([&] { store.restore(kept, "", true); }), base::ExitCode::environment);
  EXPECT_EQ(code_of([&] { store.restore(kept, "/", true); }), base::ExitCode::environment);
}

TEST_F(KeptCopies, TakeAwayWhatThoseThatWereKilledLeft) {
  const std::string of_the_dead[] = {"kept/.tmp1-one", ".racelab-restore.1-back"};
  const std::string of_the_living[] = {"kept/.tmp2-two", ".racelab-restore.2-back"};
  const std::string replaced = ".racelab-restore.1-back.old"; // may be the only one that there is
  for (const std::string& name : {of_the_dead[0], of_the_dead[1], of_the_living[0], of_the_living[1], replaced})
    put(folder / name + "/file", "part");
  std::vector<base::UniqueFd> locks;
  for (const std::string& name : of_the_living) {
    locks.emplace_back(open((folder / name).c_str(), O_RDONLY | O_DIRECTORY));
    ASSERT_EQ(flock(locks.back().get(), LOCK_EX), 0);
  }
  store.restore(store.keep(folder / "cache", "one"), folder / "back", false);
  for (const std::string& name : of_the_dead)
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  for (const std::string& name : {of_the_living[0], of_the_living[1], replaced})
    EXPECT_TRUE(fs::exists(folder / name + "/file")) << name;
}

TEST_F(KeptCopies, AreAsPrivateAsTheCache) {
  fs::permissions(folder / "cache", fs::perms::owner_all);
  const Kept kept = store.keep(folder / "cache", "one");
  EXPECT_EQ(mode_of(kept.content), 0700U);
  store.restore(kept, folder / "back", false);
  EXPECT_EQ(mode_of(folder / "back"), 0700U);
}

TEST_F(KeptCopies, AreNotOverwritten) {
  store.keep(folder / "cache", "one");
  EXPECT_EQ(code_of([&] { store.keep(folder / "cache", "one"); }), base::ExitCode::usage);
  EXPECT_THAT(message, HasSubstr("there is a snapshot one already"));
  for (const char* name : {"", "..", "a/b", ".hidden", "-x", "ä"})
    EXPECT_EQ(code_of([&] { store.keep(folder / "cache", name); }), base::ExitCode::usage) << name;
  EXPECT_THAT(listing(folder / "kept").front(), "one/");
}

TEST_F(KeptCopies, DoNotTakeThePlaceOfAnythingUnasked) {
  const Kept kept = store.keep(folder / "cache", "one");
  put(folder / "busy/file", "mine");
  EXPECT_EQ(code_of([&] { store.restore(kept, folder / "busy", false); }), base::ExitCode::usage);
  EXPECT_THAT(message, HasSubstr("--replace"));
  EXPECT_EQ(contents(folder / "busy/file"), "mine");
  store.restore(kept, folder / "busy", true);
  EXPECT_EQ(listing(folder / "busy"), listing(folder / "cache"));
  fs::create_directory(folder / "empty");
  store.restore(kept, folder / "empty", false);
  EXPECT_EQ(listing(folder / "empty"), listing(folder / "cache"));
}

TEST_F(KeptCopies, ThatAreDamagedLeaveTheFolderAsItIs) {
  const Kept kept = store.keep(folder / "cache", "one");
  put(kept.content + "/" + cache.aot, "changed");
  put(folder / "busy/file", "mine");
  EXPECT_EQ(code_of([&] { store.restore(kept, folder / "busy", true); }), base::ExitCode::environment);
  EXPECT_THAT(message, HasSubstr("the snapshot one is damaged: " + cache.aot));
  EXPECT_THAT(listing(folder / "busy"), ElementsAre("file"));
  std::vector<std::string> beside;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    beside.push_back(entry.path().filename().string());
  EXPECT_THAT(beside, testing::UnorderedElementsAre("busy", "cache", "kept")); // nothing half is left
}

TEST_F(KeptCopies, ReplaceWhatALinkNamesAndNotTheLink) {
  const Kept kept = store.keep(folder / "cache", "one");
  put(folder / "real/file", "old");
  fs::create_directory_symlink(folder / "real", folder / "link");
  store.restore(kept, folder / "link", true);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(listing(folder / "real"), listing(folder / "cache"));
}

TEST_F(KeptCopies, AreListedWithThoseOfScenarios) {
  store.keep(folder / "cache", "mine");
  SnapshotStore(folder / "snapshots")
      .publish("0123456789abcdef", folder / "cache", 2, "current (torch 2.11), drafters");
  SnapshotStore(folder / "snapshots").publish("0123ffff89abcdef", folder / "cache", 2, "other");
  const auto all = store.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "mine");
  EXPECT_EQ(all[1].from, "current (torch 2.11), drafters");
  EXPECT_EQ(store.find("01234")->name, "0123456789abcdef");
  EXPECT_FALSE(store.find("012"));
  EXPECT_EQ(code_of([&] { store.find("0123"); }), base::ExitCode::usage);
  EXPECT_THAT(message, HasSubstr("several snapshots begin with 0123"));
  store.restore(*store.find("01234"), folder / "back", false);
  EXPECT_EQ(listing(folder / "back"), listing(folder / "cache"));
}

} // namespace
} // namespace racelab::cache::test

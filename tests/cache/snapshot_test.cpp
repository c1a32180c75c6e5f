// Snapshots of filled caches: whole or not there.
#include "base/error.h"
#include "cache/caches.h"
#include "support.h"

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Snapshots : public testing::Test {
protected:
  Snapshots() {
    put(folder / "filled/inductor/a", "alpha");
    put(folder / "filled/triton/b", "beta");
  }
  Folder folder;
  SnapshotStore store{folder / "store"};
};

TEST_F(Snapshots, AreNotFoundBeforeTheyArePublished) {
  EXPECT_FALSE(store.find("key"));
}

TEST_F(Snapshots, AreFoundWithWhatWasPublished) {
  const auto published = store.publish("key", folder / "filled", 2.5, "drafter pipeline");
  const auto found = SnapshotStore(folder / "store").find("key");
  ASSERT_TRUE(found);
  for (const auto& snapshot : {published, *found}) {
    EXPECT_EQ(snapshot.key, "key");
    EXPECT_EQ(snapshot.size.files, 2);
    EXPECT_EQ(snapshot.size.bytes, 9);
    EXPECT_EQ(snapshot.fill_seconds, 2.5);
    EXPECT_EQ(contents(snapshot.folder + "/inductor/a"), "alpha");
  }
  EXPECT_FALSE(store.find("other key"));
}

TEST_F(Snapshots, AreCopiesOfWhatTheyWereFilledFrom) {
  const auto snapshot = store.publish("key", folder / "filled", 1, "");
  put(folder / "filled/inductor/a", "changed");
  EXPECT_EQ(contents(snapshot.folder + "/inductor/a"), "alpha");
}

TEST_F(Snapshots, LeaveNothingElseInTheStore) {
  store.publish("key", folder / "filled", 1, "");
  store.publish("key", folder / "filled", 1, "");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "store"))
    names.push_back(entry.path().filename().string());
  EXPECT_THAT(names, ElementsAre("key"));
}

TEST_F(Snapshots, ThatArePublishedAgainStayTheFirstOnes) {
  store.publish("key", folder / "filled", 1, "");
  put(folder / "filled/inductor/c", "later");
  EXPECT_EQ(store.publish("key", folder / "filled", 2, "").size.files, 2);
  EXPECT_EQ(store.find("key")->fill_seconds, 1);
}

TEST_F(Snapshots, WithSpecialFilesCanBePublishedWithoutThem) {
  ASSERT_EQ(mkfifo((folder / "filled/inductor/fifo").c_str(), 0600), 0);
  EXPECT_EQ(store.publish("key", folder / "filled", 1, "").size.files, 2);
  EXPECT_TRUE(store.find("key"));
}

TEST_F(Snapshots, ThatAreDamagedAreNotFoundAndAreReplaced) {
  const std::string kept = folder / "store/key";
  const std::function<void()> damages[] = {
      [&] { fs::remove(kept + "/layers/inductor/a"); },
      [&] { put(kept + "/layers/inductor/a", "alph"); },
      [&] { put(kept + "/layers/inductor/one too many", ""); },
      [&] { fs::remove(kept + "/snapshot.json"); },
      [&] { put(kept + "/snapshot.json", "{\"files\": 2"); },
      [&] { put(kept + "/snapshot.json", "[]"); },
      [&] { put(kept + "/snapshot.json", R"({"files": "two", "bytes": 9})"); },
      [&] { put(kept + "/snapshot.json", R"({"bytes": 9})"); },
  };
  int n = 0;
  for (const auto& damage : damages) {
    store.publish("key", folder / "filled", 1, "");
    damage();
    EXPECT_FALSE(store.find("key")) << "damage " << n;
    store.publish("key", folder / "filled", 1, "");
    EXPECT_TRUE(store.find("key")) << "damage " << n++;
    EXPECT_EQ(contents(kept + "/layers/inductor/a"), "alpha");
  }
}

TEST_F(Snapshots, OfTwoPublishersAtOnceAreWhole) {
  for (int round = 0; round < 20; ++round) {
    const std::string key = "key" + std::to_string(round);
    int go[2];
    ASSERT_EQ(pipe(go), 0);
    std::vector<pid_t> publishers;
    for (int i = 0; i < 3; ++i) {
      publishers.push_back(fork());
      if (publishers.back() == 0) {
        char byte = 0;
        close(go[1]);
        if (read(go[0], &byte, 1) != 0) // returns for all when the other end is closed
          _exit(3);
        try {
          _exit(SnapshotStore(folder / "store").publish(key, folder / "filled", 1, "").size.files == 2 ? 0 : 1);
        } catch (const std::exception& error) {
          fputs(error.what(), stderr);
          _exit(2);
        }
      }
    }
    close(go[0]);
    close(go[1]);
    for (const pid_t publisher : publishers) {
      int status = 0;
      waitpid(publisher, &status, 0);
      ASSERT_EQ(status, 0);
    }
    ASSERT_TRUE(store.find(key));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "store"), fs::directory_iterator()), 20);
}

TEST_F(Snapshots, ThatCannotBeKeptAreAnErrorOfTheEnvironment) {
  put(folder / "a file", "");
  SnapshotStore nowhere(folder / "a file/store");
  try {
    nowhere.publish("key", folder / "filled", 1, "");
    FAIL() << "published";
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr("the warm cache's snapshot cannot be kept"));
  }
}

scenario::CacheState state(scenario::CacheKind kind) {
  return {"s", kind, {}};
}

TEST_F(Snapshots, ArePreparedForWarmTrialsAsTheirOwnCopies) {
  const auto snapshot = store.publish("key", folder / "filled", 1, "");
  const Prepared prepared(state(scenario::CacheKind::warm), {snapshot, std::nullopt}, folder / "trial");
  EXPECT_EQ(contents(folder / "trial/inductor/a"), "alpha");
  const auto variables = private_caches(folder / "trial"); // the folders that are not in the snapshot
  EXPECT_EQ(variables.size(), directories().size());
  EXPECT_EQ(contents(folder / "trial/triton/b"), "beta");
  put(folder / "trial/inductor/a", "changed by the trial");
  EXPECT_TRUE(store.find("key"));
}

TEST_F(Snapshots, AreNotLookedAtForColdTrials) {
  const auto snapshot = store.publish("key", folder / "filled", 1, "");
  const Prepared prepared(state(scenario::CacheKind::cold), {snapshot, std::nullopt}, folder / "trial");
  EXPECT_EQ(measure(folder / "trial").files, 0);
  EXPECT_FALSE(needs_snapshot(state(scenario::CacheKind::cold)));
  EXPECT_TRUE(needs_snapshot(state(scenario::CacheKind::warm)));
}

TEST_F(Snapshots, ThatAreMissingWhereAWarmTrialNeedsOneAreAnInternalError) {
  try {
    const Prepared prepared(state(scenario::CacheKind::warm), {std::nullopt, std::nullopt}, folder / "trial");
    FAIL() << "prepared";
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::internal);
  }
}

} // namespace
} // namespace racelab::cache::test

// States as they are made for a trial, and each of them spoilt before it is looked at.
#include "cache/caches.h"
#include "cache/mounts.h"
#include "support.h"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::cache::test {
namespace {

using scenario::CacheKind;
using scenario::CacheState;
using testing::ElementsAre;
using testing::HasSubstr;

int errno_of_creating(const std::string& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int error = fd < 0 ? errno : 0;
  close(fd);
  return error;
}

// In a child, whose mounts go with it; the result of the part, or 77 where the system allows no mount namespace.
int with_mounts(const std::function<int()>& part) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(enter_private_mounts() ? part() : 77);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

class PreparedStates : public testing::Test {
protected:
  void SetUp() override {
    put(snapshot() + "/inductor/fxgraph/aa/key/entry0", std::string(1000, 'g'));
    put(snapshot() + "/inductor/fxgraph/bb/key/entry1", std::string(1000, 'h'));
    put(snapshot() + "/inductor/aotautograd/aa/entry", std::string(1000, 'a'));
    sources.own = SnapshotStore::Snapshot{"k", snapshot(), measure(snapshot()), 0, "own", "", {}};
  }

  std::string snapshot() const { return folder / "snapshot"; }
  std::string root() const { return folder / "trial"; }

  static CacheState warm() { return {"s", CacheKind::warm, {}}; }

  // Why the state cannot be had; empty: it can.
  std::string refusal(const CacheState& state, const Obstacles& obstacles) {
    try {
      const Prepared prepared(state, sources, root(), {}, obstacles);
      return "";
    } catch (const StateImpossible& error) {
      return error.what();
    }
  }

  Folder folder;
  Sources sources;
};

TEST_F(PreparedStates, AreNotHadWhereDamageWasUndone) {
  CacheState state = warm();
  state.damage = {{"fx-graph", "truncate-half"}};
  EXPECT_EQ(refusal(state, {}), "");
  remove_tree(root());
  const auto undo = [&](const std::string& trial) {
    for (const char* file : {"aa/key/entry0", "bb/key/entry1"}) {
      put(trial + "/inductor/fxgraph/" + file, std::string(1000, 'x'));
    }
  };
  EXPECT_THAT(refusal(state, {false, undo}), HasSubstr("the damage is not there"));
}

TEST_F(PreparedStates, AreNotHadWhereThereIsNothingToTakeOut) {
  CacheState state = warm();
  state.without = {"triton-cubin"};
  EXPECT_THAT(refusal(state, {}), HasSubstr("no file of the layer triton-cubin"));
}

TEST_F(PreparedStates, ReadOnlyByMountBindRoot) {
  const int result = with_mounts([&] {
    CacheState state = warm();
    state.read_only = true;
    const Prepared prepared(state, sources, root());
    const bool bound = errno_of_creating(root() + "/inductor/new") == EROFS;
    return bound && prepared.changes().at(0) == "mounted read-only (EROFS)" ? 0 : 1;
  });
  EXPECT_THAT(result, testing::AnyOf(0, 77));
}

TEST_F(PreparedStates, ReadOnlyByMountAreNotHadWhereTheMountIsGone) {
  const int result = with_mounts([&] {
    CacheState state = warm();
    state.read_only = true;
    const auto undo = [](const std::string& trial) { umount2(trial.c_str(), MNT_DETACH); };
    return refusal(state, {false, undo}) == "the cache is not read-only: writing works" ? 0 : 1;
  });
  EXPECT_THAT(result, testing::AnyOf(0, 77));
}

TEST_F(PreparedStates, ReadOnlyWithoutMountsTakeTheTrialsPowers) {
  CacheState state = warm();
  state.read_only = true;
  {
    const Prepared prepared(state, sources, root(), {}, {true, [](const std::string&) {}});
    EXPECT_TRUE(prepared.confinement().without_file_powers);
    EXPECT_THAT(prepared.changes(), ElementsAre(HasSubstr("no permission to write (EACCES)")));
    const auto create = [&] { return errno_of_creating(root() + "/inductor/new"); };
    EXPECT_EQ(base::errno_when_confined(prepared.confinement(), create), EACCES);
  }
  remove_tree(root());
  EXPECT_FALSE(std::filesystem::exists(root())); // also without the right to write
  const auto undo = [](const std::string& trial) { chmod((trial + "/inductor").c_str(), 0755); };
  EXPECT_EQ(refusal(state, {true, undo}), "the cache is not read-only: writing works");
}

TEST_F(PreparedStates, FullByMountHaveJustTheRoomTheyAreGiven) {
  const int result = with_mounts([&] {
    CacheState state = warm();
    state.quota_bytes = 64 * 1024;
    const Prepared prepared(state, sources, root());
    const auto undo = [](const std::string& trial) { umount2(trial.c_str(), MNT_DETACH); };
    remove_tree(folder / "other");
    const bool told = prepared.changes().at(0).find("ENOSPC") != std::string::npos;
    std::string why;
    try {
      const Prepared spoilt(state, sources, folder / "other", {}, {false, undo});
    } catch (const StateImpossible& error) {
      why = error.what();
    }
    return told && why == "the cache is not full: writing works" ? 0 : 1;
  });
  EXPECT_THAT(result, testing::AnyOf(0, 77));
}

TEST_F(PreparedStates, FullWithoutMountsLimitTheSizeOfFilesAndSaySo) {
  CacheState state = warm();
  state.quota_bytes = 64 * 1024;
  const Prepared prepared(state, sources, root(), {}, {true, [](const std::string&) {}});
  EXPECT_EQ(prepared.confinement().file_size_limit, state.quota_bytes);
  EXPECT_THAT(prepared.changes(), ElementsAre("no file may grow beyond 65.5 kB (EFBIG): nothing may be mounted"));
}

TEST_F(PreparedStates, HaveTritonsGroupsPointToTheirOwnFiles) {
  const std::string group = "/triton/KEY/__grp__k.json";
  put(snapshot() + group, R"({"child_paths": {"k.cubin": "/where/it/was/triton/KEY/k.cubin", "o": "/else/triton/o"}})");
  put(snapshot() + "/triton/KEY/k.json", "/where/it/was/triton/KEY/k.cubin"); // no group
  sources.own->filled_at = "/where/it/was";
  const Prepared prepared(warm(), sources, root());
  EXPECT_EQ(contents(root() + group),
            R"({"child_paths": {"k.cubin": ")" + root() + R"(/triton/KEY/k.cubin", "o": "/else/triton/o"}})");
  EXPECT_EQ(contents(root() + "/triton/KEY/k.json"), "/where/it/was/triton/KEY/k.cubin");
  EXPECT_THAT(contents(snapshot() + group), HasSubstr("/where/it/was")); // is left as it was
}

TEST_F(PreparedStates, TellWhatIsToHappenInTheTrial) {
  CacheState state{"s", CacheKind::cold, {}};
  state.copies = 2;
  state.vanish_at = {"*", "cache.rename.enter"};
  const Prepared prepared(state, sources, root());
  EXPECT_THAT(prepared.changes(),
              ElementsAre("shared by 2 processes", "removed when this is passed: * cache.rename.enter"));
}

TEST_F(PreparedStates, WithoutPermissionsBindRootToo) {
  CacheState state = warm();
  state.damage = {{"aot", "no-permission"}};
  {
    const Prepared prepared(state, sources, root());
    EXPECT_TRUE(prepared.confinement().without_file_powers);
  }
  remove_tree(root());
  const auto undo = [](const std::string& trial) { chmod((trial + "/inductor/aotautograd/aa/entry").c_str(), 0644); };
  EXPECT_THAT(refusal(state, {false, undo}), HasSubstr("aotautograd/aa/entry"));
}

TEST_F(PreparedStates, OfDirectoriesOfTheScenariosOwn) {
  scenario::Scenario scenario;
  scenario.cache_directories = {{"kernels", "KERNEL_CACHE", {{"kernel", {"*/*.kernel"}}}, "k.hit", "k.miss", {}}};
  const Inventory inventory = inventory_for(scenario);
  EXPECT_EQ(inventory.directories.back().variable, "KERNEL_CACHE");
  put(snapshot() + "/kernels/aa/one.kernel", "first");
  put(snapshot() + "/kernels/bb/two.kernel", "second");
  CacheState state = warm();
  state.damage = {{"kernel", "swap"}};
  {
    const Prepared prepared(state, sources, root(), inventory);
    EXPECT_EQ(contents(root() + "/kernels/aa/one.kernel"), "second");
  }
  EXPECT_EQ(look_ups({{"k.hit", 3}, {"k.miss", 2}, {"inductor.fxgraph_cache_hit", 1}}, inventory).hits, 4);
  remove_tree(root());
  EXPECT_THAT(refusal(state, {}), HasSubstr("there is no layer kernel")); // without that inventory
}

} // namespace
} // namespace racelab::cache::test

// Private caches, and the proof that a state was what it claims to be.
#include "cache/caches.h"
#include "support.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::cache::test {
namespace {

using testing::HasSubstr;

TEST(PrivateCaches, AreAFolderPerLayerThatItsVariableNames) {
  const Folder folder;
  const auto variables = private_caches(folder / "caches");
  const std::vector<std::pair<std::string, std::string>> wanted{{"TORCHINDUCTOR_CACHE_DIR", folder / "caches/inductor"},
                                                                {"TRITON_CACHE_DIR", folder / "caches/triton"},
                                                                {"CUDA_CACHE_PATH", folder / "caches/cuda"}};
  EXPECT_EQ(variables, wanted);
  for (const auto& [name, path] : variables)
    EXPECT_TRUE(std::filesystem::is_directory(path)) << path;
  EXPECT_EQ(private_caches(folder / "caches"), wanted); // they may be there already
}

TEST(LookUps, SumTheCompileCachesAndNothingElse) {
  const LookUps sum = look_ups({{"aot_autograd.autograd_cache_hit", 1},
                                {"aot_autograd.autograd_cache_miss", 2},
                                {"inductor.fxgraph_cache_hit", 10},
                                {"inductor.fxgraph_cache_miss", 20},
                                {"inductor.fxgraph_cache_bypass", 100},
                                {"stats.calls_captured", 1000}});
  EXPECT_EQ(sum.hits, 11);
  EXPECT_EQ(sum.misses, 22);
  EXPECT_EQ(look_ups({}).hits, 0);
}

struct ProofCase {
  scenario::CacheKind kind;
  std::int64_t hits, misses, files_before, files_after;
  bool proved;
  const char* says;
};

TEST(Proof, FollowsFromLookUpsAndFiles) {
  using scenario::CacheKind;
  const ProofCase cases[] = {
      {CacheKind::cold, 0, 3, 0, 9, true, "0 hits, 3 misses; 0 files before, 9 after"},
      {CacheKind::cold, 2, 3, 0, 9, true, "hits are on entries that this trial wrote itself"},
      {CacheKind::cold, 0, 3, 1, 9, false, "not cold"},
      {CacheKind::cold, 0, 0, 0, 0, true, "this pipeline writes no compile cache"},
      {CacheKind::cold, 0, 0, 0, 9, false, "no look-up missed"},
      {CacheKind::cold, 5, 0, 0, 9, false, "no look-up missed"},
      {CacheKind::warm, 3, 0, 9, 9, true, "3 hits, 0 misses; 9 files before, 9 after"},
      {CacheKind::warm, 3, 1, 9, 10, false, "not fully warm"},
      {CacheKind::warm, 0, 0, 9, 9, false, "no look-up hit"},
      {CacheKind::warm, 0, 4, 9, 12, false, "no look-up hit"},
      {CacheKind::warm, 3, 0, 0, 9, false, "the snapshot is empty"},
  };
  for (const ProofCase& c : cases) {
    const Proof proof = prove({"s", c.kind, {}}, {c.hits, c.misses}, {c.files_before, 0}, {c.files_after, 0});
    EXPECT_EQ(proof.proved, c.proved) << proof.message;
    EXPECT_THAT(proof.message, HasSubstr(c.says));
  }
}

TEST(Proof, IsTheDirectoryWhereThePipelineWasEndedBeforeItCouldTell) {
  using scenario::CacheKind;
  const LookUps killed{0, 0, false};
  EXPECT_TRUE(prove({"s", CacheKind::cold, {}}, killed, {0, 0}, {9, 0}).proved);
  EXPECT_FALSE(prove({"s", CacheKind::cold, {}}, killed, {1, 0}, {9, 0}).proved);
  EXPECT_TRUE(prove({"s", CacheKind::warm, {}}, killed, {9, 0}, {9, 0}).proved);
  EXPECT_FALSE(prove({"s", CacheKind::warm, {}}, killed, {0, 0}, {9, 0}).proved);
}

TEST(Proof, OfALookUpThatNobodyCountsIsWhetherFilesCame) {
  const LookUps uncounted{0, 0, true, false, false};
  EXPECT_TRUE(prove({"s", scenario::CacheKind::cold, {}}, uncounted, {0, 0}, {9, 9}).proved);
  EXPECT_TRUE(prove({"s", scenario::CacheKind::warm, {}}, uncounted, {9, 9}, {9, 9}).proved);
  EXPECT_FALSE(prove({"s", scenario::CacheKind::warm, {}}, uncounted, {9, 9}, {10, 20}).proved);
  EXPECT_FALSE(prove({"s", scenario::CacheKind::warm, {}}, uncounted, {9, 9}, {9, 20}).proved);
}

TEST(Proof, OfAStateWhoseFilesWereAllTakenAwayIsThatItWasMadeSo) {
  scenario::CacheState state{"s", scenario::CacheKind::warm, {}};
  state.damage = {{"cuda-jit", "missing"}};
  EXPECT_TRUE(prove(state, {0, 0, true, false, false}, {0, 0}, {2, 9}).proved);
}

TEST(Proof, FailsWhereTheProgramUsesAnotherDirectory) {
  const LookUps hits{6, 0, true, true}, misses{0, 6, true, true};
  for (const LookUps& elsewhere : {hits, misses}) {
    const Proof proof = prove({"s", scenario::CacheKind::cold, {}}, elsewhere, {0, 0}, {0, 0});
    EXPECT_FALSE(proof.proved);
    EXPECT_THAT(proof.message, HasSubstr("does it read the variables of `cache_directories`?"));
  }
  EXPECT_THAT(prove({"s", scenario::CacheKind::warm, {}}, hits, {0, 0}, {0, 0}).message,
              HasSubstr("cache_directories"));
}

TEST(Proof, OfAVanishingCacheIsThatSomethingWasRemoved) {
  scenario::CacheState state{"s", scenario::CacheKind::cold, {}};
  state.vanish_at = {"*", "cache.rename.enter"};
  const Proof without = prove(state, {0, 2}, {0, 0}, {3, 9});
  EXPECT_FALSE(without.proved);
  EXPECT_THAT(without.message, HasSubstr("nothing vanished: anybody's cache.rename.enter"));
  EXPECT_TRUE(prove(state, {0, 2}, {0, 0}, {3, 9}, {5, 1}).proved);
}

TEST(Proof, OfASharedCacheIsThatAllProcessesCame) {
  scenario::CacheState state{"s", scenario::CacheKind::cold, {}};
  state.copies = 2;
  EXPECT_THAT(prove(state, {0, 2}, {0, 0}, {3, 9}, {0, 1}).message, HasSubstr("1 of 2 processes"));
  EXPECT_TRUE(prove(state, {0, 2}, {0, 0}, {3, 9}, {0, 2}).proved);
}

} // namespace
} // namespace racelab::cache::test

// What the files of a cache are.
#include "cache/layers.h"

#include "support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::cache::test {
namespace {

using testing::ElementsAre;

std::string name_of(const std::string& path) {
  const Layer* layer = layer_of(path);
  return layer == nullptr ? "" : layer->name;
}

TEST(Layers, AreToldByThePath) {
  EXPECT_EQ(name_of("inductor/lq/clq3tf.py"), "inductor-code");
  EXPECT_EQ(name_of("inductor/dc/cdcmck.main.cpp"), "inductor-source");
  EXPECT_EQ(name_of("inductor/dc/cdcmck.main.so"), "inductor-library");
  EXPECT_EQ(name_of("inductor/fxgraph/kj/fkjf4a/esiitl"), "fx-graph");
  EXPECT_EQ(name_of("inductor/aotautograd/a72dlk/6d4mer"), "aot");
  EXPECT_EQ(name_of("inductor/locks/cdcmck.lock"), "locks");
  EXPECT_EQ(name_of("triton/ABC/kernel.json"), "triton-json");
  EXPECT_EQ(name_of("triton/ABC/__grp__kernel.json"), "triton-json");
  EXPECT_EQ(name_of("triton/ABC/kernel.cubin"), "triton-cubin");
  EXPECT_EQ(name_of("triton/ABC/kernel.ttgir"), "triton-source");
  EXPECT_EQ(name_of("cuda/3/7/0b1c"), "cuda-jit");
}

TEST(Layers, LeaveOutWhatNobodyHasPublished) {
  EXPECT_EQ(name_of("inductor/fxgraph/kj/fkjf4a/.12.34.tmp"), "");
  EXPECT_EQ(name_of("inductor/lq/.12.34.tmp"), "");
  EXPECT_EQ(name_of("elsewhere"), "");
}

TEST(Layers, HaveTheirFilesInOrder) {
  const Folder folder;
  for (const char* file : {"inductor/b/2.py", "inductor/a/1.py", "inductor/a/1.main.so", "inductor/a/.1.2.tmp"})
    put(folder / file, "x");
  EXPECT_THAT(files_of(folder / "", *find_layer("inductor-code")), ElementsAre("inductor/a/1.py", "inductor/b/2.py"));
  EXPECT_TRUE(files_of(folder / "nowhere", *find_layer("aot")).empty());
}

TEST(PathPatterns, KeepStarsWithinAComponent) {
  EXPECT_TRUE(path_matches("a/*/c", "a/b/c"));
  EXPECT_FALSE(path_matches("a/*/c", "a/b/b/c"));
  EXPECT_FALSE(path_matches("a/*", "a"));
  EXPECT_TRUE(path_matches("a/**", "a/b/c"));
  EXPECT_TRUE(path_matches("**/c", "a/b/c"));
  EXPECT_TRUE(path_matches("a/**/c", "a/c"));
  EXPECT_FALSE(path_matches("a/**/c", "a/b"));
}

} // namespace
} // namespace racelab::cache::test

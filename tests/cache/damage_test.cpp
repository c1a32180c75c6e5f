// Damage that is made on purpose, and that is there.
#include "cache/damage.h"

#include "cache/layers.h"
#include "cache/tree.h"
#include "support.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int k_entries = 4;

// A cache of four entries a layer, all of them different.
class Damages : public testing::Test {
protected:
  Damages() {
    for (int i = 0; i < k_entries; ++i) {
      const std::string n = std::to_string(i);
      put(root() + "/inductor/fxgraph/aa/key" + n + "/entry" + n, std::string(2000 + i, static_cast<char>('a' + i)));
      put(root() + "/inductor/dd/lib" + n + ".main.so", "library " + n + std::string(600, '.'));
    }
  }
  std::string root() const { return folder / "caches"; }
  static scenario::Damage damage(const std::string& how, int count = 1, std::uint64_t seed = 3) {
    return {"fx-graph", how, "", count, seed};
  }
  std::string bytes(const Damaged& d) const { return contents(root() + "/" + d.file); }

  Folder folder;
};

TEST_F(Damages, OfEveryKindAreThereAndAreFoundMissing) {
  for (const DamageKind& kind : damage_kinds()) {
    const std::string copy = folder / ("copy-" + kind.name);
    ASSERT_TRUE(copy_tree(root(), copy));
    const auto done = apply_damage(copy, damage(kind.name));
    ASSERT_TRUE(done) << kind.name << ": " << done.error();
    ASSERT_FALSE(done->empty()) << kind.name;
    EXPECT_TRUE(verify_damage(copy, *done)) << kind.name;
    EXPECT_FALSE(is_mended(copy, *done)) << kind.name;
    const std::string undone = folder / ("undone-" + kind.name);
    ASSERT_TRUE(copy_tree(root(), undone)); // as if the damage had not been made
    EXPECT_FALSE(verify_damage(undone, *done)) << kind.name;
    EXPECT_TRUE(is_mended(undone, *done)) << kind.name;
  }
}

TEST_F(Damages, AreTheSameBytesForTheSameSeed) {
  for (const char* how : {"bit-flip", "garbage", "zero-block", "swap"}) {
    const std::string one = folder / ("one-" + std::string(how)), two = folder / ("two-" + std::string(how)),
                      other = folder / ("other-" + std::string(how));
    for (const std::string& copy : {one, two, other})
      ASSERT_TRUE(copy_tree(root(), copy));
    const auto a = apply_damage(one, damage(how)), b = apply_damage(two, damage(how)),
               c = apply_damage(other, damage(how, 1, 4));
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ((*a)[0].file, (*b)[0].file);
    EXPECT_EQ((*a)[0].digest, (*b)[0].digest);
    EXPECT_TRUE(verify_damage(two, *a));
    EXPECT_FALSE(verify_damage(other, *a)) << how; // another seed, another file or other bytes
  }
}

TEST_F(Damages, ChangeOneBitOnly) {
  const std::string original = folder / "original";
  ASSERT_TRUE(copy_tree(root(), original));
  const auto done = apply_damage(root(), damage("bit-flip"));
  ASSERT_TRUE(done);
  const std::string now = bytes((*done)[0]), before = contents(original + "/" + (*done)[0].file);
  ASSERT_EQ(now.size(), before.size());
  int bits = 0;
  for (std::size_t i = 0; i < now.size(); ++i)
    bits += __builtin_popcount(static_cast<unsigned char>(now[i] ^ before[i]));
  EXPECT_EQ(bits, 1);
  EXPECT_THAT((*done)[0].what, HasSubstr("flipped"));
}

TEST_F(Damages, CutWhereTheySay) {
  const std::pair<const char*, int> cases[] = {{"truncate-zero", 0}, {"truncate-half", 1000}, {"truncate-last", 1999}};
  for (const auto& [how, size] : cases) {
    auto d = damage(how);
    d.files = "inductor/fxgraph/aa/key0/*";
    put(root() + "/inductor/fxgraph/aa/key0/entry0", std::string(2000, 'a'));
    const auto done = apply_damage(root(), d);
    ASSERT_TRUE(done) << how;
    EXPECT_EQ(bytes((*done)[0]), std::string(static_cast<std::size_t>(size), 'a')) << how;
  }
}

TEST_F(Damages, SwapTwoWholeEntries) {
  const auto done = apply_damage(root(), damage("swap"));
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 2U);
  const char first = (*done)[0].file.back(), second = (*done)[1].file.back(); // "entry2"
  EXPECT_EQ(bytes((*done)[0])[0] - 'a', second - '0');
  EXPECT_EQ(bytes((*done)[1])[0] - 'a', first - '0');
}

TEST_F(Damages, LeaveTheSnapshotAlone) {
  const std::string copy = folder / "copy";
  ASSERT_TRUE(copy_tree(root(), copy));
  const std::string before = contents(root() + "/inductor/fxgraph/aa/key0/entry0");
  ASSERT_TRUE(apply_damage(copy, damage("garbage", 0)));
  EXPECT_EQ(contents(root() + "/inductor/fxgraph/aa/key0/entry0"), before);
}

TEST_F(Damages, LeaveAWriterThatDiedAtEachStep) {
  const std::pair<const char*, double> cases[] = {
      {"half-published-empty", 0}, {"half-published-part", 0.5}, {"half-published-whole", 1}};
  for (const auto& [how, share] : cases) {
    const std::string copy = folder / how;
    ASSERT_TRUE(copy_tree(root(), copy));
    const auto done = apply_damage(copy, damage(how));
    ASSERT_TRUE(done);
    const fs::path left = fs::path(copy) / (*done)[0].file;
    EXPECT_EQ(layer_of((*done)[0].file), nullptr); // not published
    EXPECT_EQ(std::distance(fs::directory_iterator(left.parent_path()), {}), 1);
    EXPECT_NEAR(static_cast<double>(fs::file_size(left)), 2000 * share, 4);
  }
}

TEST_F(Damages, SayWhyTheyCannotBeHad) {
  const auto why = [&](const scenario::Damage& d) { return apply_damage(root(), d).error(); };
  EXPECT_THAT(why({"aot", "truncate-half", "", 1, 0}), HasSubstr("no file of the layer aot"));
  EXPECT_THAT(why({"fx-graph", "swap", "**/entry0", 1, 0}), HasSubstr("needs two files"));
  EXPECT_THAT(why({"inductor-library", "duplicate-key", "", 1, 0}), HasSubstr("one file per key"));
  put(root() + "/inductor/fxgraph/aa/key9/empty", "");
  EXPECT_THAT(why({"fx-graph", "bit-flip", "**/empty", 1, 0}), HasSubstr("no bit to flip"));
}

TEST_F(Damages, OfForgedEntriesAreTheOtherToolkitsContent) {
  const std::string foreign = folder / "foreign";
  put(foreign + "/inductor/fxgraph/zz/k/e", "written by another torch");
  const auto forged = forge(root(), foreign, "fx-graph");
  ASSERT_TRUE(forged);
  EXPECT_EQ(forged->size(), static_cast<std::size_t>(k_entries));
  EXPECT_EQ(bytes((*forged)[2]), "written by another torch");
  EXPECT_THAT(forge(root(), foreign, "inductor-library").error(), HasSubstr("the other toolkit's"));
}

TEST_F(Damages, OfADuplicateKeyHaveTheFirstName) {
  put(root() + "/inductor/fxgraph/aa/key0/2222", "a name as early as torch makes them");
  const auto done = apply_damage(root(), {"fx-graph", "duplicate-key", "", 0, 0});
  ASSERT_TRUE(done);
  for (const Damaged& twin : *done) {
    const std::filesystem::path path = root() + "/" + twin.file;
    EXPECT_LT(path.filename().string(), "2");
    EXPECT_EQ(listing(path.parent_path()).front().substr(0, 1), "0");
  }
}

TEST_F(Damages, OfWritersThatDiedAreNamedAsTheirsAndByFile) {
  put(root() + "/triton/KEY/k.cubin", "machine code");
  put(root() + "/triton/KEY/k2.cubin", "other machine code");
  const auto triton = apply_damage(root(), {"triton-cubin", "half-published-whole", "", 0, 0});
  ASSERT_TRUE(triton);
  EXPECT_TRUE(verify_damage(root(), *triton)); // two in one folder
  for (const Damaged& d : *triton) {
    EXPECT_TRUE(path_matches("triton/KEY/tmp.pid_4194303_*/k*.cubin", d.file)) << d.file;
    EXPECT_EQ(layer_of(d.file), nullptr);
  }
  const auto torch = apply_damage(root(), {"fx-graph", "half-published-whole", "", 1, 0});
  ASSERT_TRUE(torch);
  EXPECT_TRUE(path_matches("inductor/fxgraph/*/*/.4194303.*.tmp", (*torch)[0].file)) << (*torch)[0].file;
}

TEST_F(Damages, OfAMissingEntryAreMendedByOneOfAnotherNameUnderTheKey) {
  const auto done = apply_damage(root(), {"fx-graph", "missing", "", 1, 0});
  ASSERT_TRUE(done);
  EXPECT_FALSE(is_mended(root(), *done));
  put((std::filesystem::path(root()) / (*done)[0].file).parent_path() / "another", "entry");
  EXPECT_TRUE(is_mended(root(), *done));
}

TEST_F(Damages, LeaveLocksAndTemporaryFilesBehind) {
  const auto locks = leave_behind(root(), "lock");
  ASSERT_TRUE(locks);
  EXPECT_EQ(locks->size(), static_cast<std::size_t>(k_entries));
  EXPECT_EQ((*locks)[0].file, "inductor/locks/lib0.lock");
  const auto temporary = leave_behind(root(), "temporary");
  ASSERT_TRUE(temporary);
  EXPECT_EQ(temporary->size(), k_entries + 1U); // one for each folder
  EXPECT_TRUE(verify_damage(root(), *temporary));
  EXPECT_FALSE(leave_behind(folder / "nothing", "lock"));
}

} // namespace
} // namespace racelab::cache::test

// Caches as they lie on the disk: what is in them, and what is damaged.
#include "cache/inspect.h"

#include "base/files.h"
#include "cache/damage.h"
#include "cache/layers.h"
#include "cache/tree.h"
#include "pickles.h"
#include "support.h"

#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<Finding>& findings) {
  std::vector<std::string> list;
  for (const Finding& finding : findings)
    list.push_back(finding.path + ": " + finding.what);
  return list;
}

class Inspections : public testing::Test {
protected:
  Inspections() : cache(put_small_cache(root)), other(put_small_cache(root, 'b')) {}

  Inspection look() const {
    const auto inspection = inspect(root);
    EXPECT_TRUE(inspection) << inspection.error();
    return inspection.value_or(Inspection{});
  }
  std::string file(const std::string& path) const { return root + "/" + path; }

  Folder folder;
  const std::string root = folder / "cache";
  const SmallCache cache, other;
};

const LayerSum& layer_in(const Inspection& inspection, const std::string& name) {
  for (const LayerSum& layer : inspection.layers)
    if (layer.name == name)
      return layer;
  throw std::runtime_error("no layer " + name);
}

TEST_F(Inspections, CountEntriesFilesAndBytesByLayer) {
  const Inspection inspection = look();
  EXPECT_THAT(inspection.holds, ElementsAre("inductor", "triton"));
  EXPECT_EQ(layer_in(inspection, "fx-graph").entries, 2);
  EXPECT_EQ(layer_in(inspection, "triton-json").entries, 2);
  EXPECT_EQ(layer_in(inspection, "triton-json").files, 4);
  EXPECT_EQ(layer_in(inspection, "locks").entries, 0);
  EXPECT_EQ(inspection.total.entries, 2 * 4); // code, graph, AOTAutograd and kernel: a kernel's files are of one entry
  EXPECT_EQ(inspection.total.files, measure(root).files);
  EXPECT_EQ(inspection.total.bytes, measure(root).bytes);
}

TEST_F(Inspections, FindNothingWrongWithWholeCaches) {
  const Inspection inspection = look();
  EXPECT_THAT(texts(inspection.damage), IsEmpty());
  EXPECT_EQ(inspection.checked.at(Checked::exactly), 2 * 6); // all but the groups, which name absolute paths
  EXPECT_EQ(inspection.checked.at(Checked::by_form), 2);
  EXPECT_THAT(texts(inspection.remarks), ElementsAre(HasSubstr("2 of Triton's groups name files in /elsewhere")));
}

TEST_F(Inspections, KnowEachPartByWhatIsInIt) {
  EXPECT_THAT(inspect(root + "/inductor")->holds, ElementsAre("inductor"));
  EXPECT_THAT(inspect(root + "/triton")->holds, ElementsAre("triton"));
  fs::create_directories(root + "/inductor/triton");
  fs::rename(root + "/triton", root + "/inductor/triton/0"); // as torch has it where TRITON_CACHE_DIR is not set
  const auto both = inspect(root + "/inductor");
  EXPECT_THAT(both->holds, ElementsAre("inductor", "triton"));
  EXPECT_EQ(layer_in(*both, "triton-cubin").entries, 2);
  EXPECT_THAT(texts(both->damage), IsEmpty());
  fs::rename(root + "/inductor", root + "/torchinductor_somebody");
  EXPECT_THAT(inspect(root)->holds, ElementsAre("inductor", "triton"));
}

TEST_F(Inspections, RefuseFoldersThatAreNoCache) {
  put(folder / "photos/2026/img.png", "x");
  EXPECT_THAT(inspect(folder / "photos").error(), HasSubstr("is no compile cache"));
  EXPECT_FALSE(inspect(folder / "nowhere"));
  fs::create_directory(folder / "empty");
  EXPECT_EQ(inspect(folder / "empty")->total.files, 0);
}

TEST_F(Inspections, LeaveTheFolderAsItIs) {
  const std::string path = file(cache.graph);
  const auto times = [&] {
    struct stat info {};
    stat(path.c_str(), &info);
    return std::pair(info.st_atim.tv_sec * 1'000'000'000 + info.st_atim.tv_nsec, info.st_mtim.tv_nsec);
  };
  const timespec old[] = {{1000, 0}, {2000, 0}}; // read long ago: relatime would note another access
  utimensat(AT_FDCWD, path.c_str(), old, 0);
  const auto before = times();
  const auto names = listing(root);
  look();
  EXPECT_EQ(times(), before);
  EXPECT_EQ(listing(root), names);
}

// What each kind of damage to each layer leaves; the layers are those of the small cache.
TEST_F(Inspections, SeeEveryKindOfDamageOfWhichBytesTell) {
  const std::map<std::string, std::vector<std::string>> unseen{
      // A last newline that is gone does not count in the name; torch makes what is missing again.
      {"inductor-code", {"truncate-last", "missing"}},
      {"aot", {"missing"}},
      {"fx-graph", {}},
      {"triton-json", {"missing"}}, // a group; of metadata it is seen
      {"triton-cubin", {}},
  };
  for (const auto& [layer, kinds] : unseen) {
    for (const DamageKind& kind : damage_kinds()) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const std::string copy = folder / "copy";
        remove_tree(copy);
        ASSERT_TRUE(copy_tree(root, copy));
        const auto done = apply_damage(copy, {layer, kind.name, "", 1, seed});
        if (!done)
          continue; // one file per key; root, whom no mode binds
        const auto inspection = inspect(copy);
        ASSERT_TRUE(inspection);
        const bool is_seen = !inspection->damage.empty(), is_remarked = inspection->remarks.size() > 1;
        if (std::find(kinds.begin(), kinds.end(), kind.name) == kinds.end()) {
          EXPECT_TRUE(is_seen) << layer << " " << kind.name << " " << (*done)[0].file << " " << (*done)[0].what;
        } else if (kind.name == "missing") {
          EXPECT_TRUE(is_seen || is_remarked) << layer << " " << (*done)[0].file;
        }
      }
    }
  }
}

TEST_F(Inspections, SeeForgedEntriesAndWhatADeadProcessLeft) {
  const std::string foreign = folder / "foreign";
  put_small_cache(foreign, 'q', "2.15.0");
  for (const char* layer : {"fx-graph", "aot", "inductor-code", "triton-cubin"}) {
    const std::string copy = folder / ("copy-" + std::string(layer));
    ASSERT_TRUE(copy_tree(root, copy));
    ASSERT_TRUE(forge(copy, foreign, layer));
    EXPECT_EQ(layer_in(*inspect(copy), layer).damaged, 2) << layer;
  }
  ASSERT_TRUE(leave_behind(root, "temporary"));
  EXPECT_THAT(texts(look().damage), Contains(HasSubstr("by process 4194303, which is not there")));
  EXPECT_GT(layer_in(look(), "temporary").files, 0);
}

TEST_F(Inspections, SeeAnEntryUnderAnotherKey) {
  fs::rename(file(cache.graph), root + "/" + fs::path(other.graph).parent_path().string() + "/" +
                                    fs::path(cache.graph).filename().string());
  const auto damage = texts(look().damage);
  EXPECT_THAT(damage, Contains(HasSubstr("it belongs under the key " + key_of('f', 'a'))));
}

TEST_F(Inspections, SeeGraphsThatAreNotThere) {
  fs::remove_all(fs::path(file(cache.graph)).parent_path());
  EXPECT_THAT(texts(look().damage), ElementsAre(AllOf(HasSubstr(cache.aot), HasSubstr("needs the FX graph"))));
}

TEST_F(Inspections, DoNotCallAFileDamagedThatIsBeingWritten) {
  put(fmt::format("{}/inductor/aa/.{}.139637976727232.tmp", root, getpid()), "half");
  EXPECT_THAT(texts(look().damage), IsEmpty());
  EXPECT_THAT(texts(look().remarks), Contains(HasSubstr("being written")));
}

TEST_F(Inspections, SeeAChangedKernelByTheCopyInTheGraph) {
  std::string cubin = contents(file(cache.cubin));
  cubin[cubin.find("code of")] ^= 1; // nothing of an ELF file's form
  put(file(cache.cubin), cubin);
  EXPECT_THAT(texts(look().damage), ElementsAre(HasSubstr("is not what the FX graph that uses it carries")));
  fs::remove_all(root + "/inductor");
  EXPECT_THAT(texts(look().damage), IsEmpty()); // no copy, no comparison
}

TEST_F(Inspections, CheckLibrariesBySourceAndForm) {
  const std::string stem = key_of('c', 'd'), place = root + "/inductor/dd/" + stem + ".main.so";
  put(root + "/inductor/dd/" + stem + ".main.cpp", "int main() { return '{'; } // }\n");
  put(place, elf_file("k", stem + ".main.cpp", 62));
  EXPECT_THAT(texts(look().damage), IsEmpty());
  put(place, elf_file("k", key_of('c', 'e') + ".main.cpp", 62));
  EXPECT_THAT(texts(look().damage), ElementsAre(HasSubstr("compiled from " + key_of('c', 'e'))));
  put(place, elf_file("k", stem + ".main.cpp", 62) + "x");
  EXPECT_THAT(texts(look().damage), ElementsAre(HasSubstr("1 bytes follow its last part")));
  put(root + "/inductor/dd/" + stem + ".main.cpp", "int main() {\n");
  EXPECT_THAT(texts(look().damage), Contains(HasSubstr("its braces do not match")));
}

TEST_F(Inspections, DoNotCallALibraryDamagedThatIsBeingCompiled) {
  const std::string stem = key_of('c', 'd');
  put(root + "/inductor/dd/" + stem + ".main.so", elf_file("k", stem + ".main.cpp", 62).substr(0, 200));
  put(root + "/inductor/locks/" + stem + ".lock", "");
  EXPECT_EQ(look().damage.size(), 1U); // nobody holds the lock
  const base::UniqueFd lock(open((root + "/inductor/locks/" + stem + ".lock").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(lock.get(), LOCK_EX), 0);
  EXPECT_THAT(texts(look().damage), IsEmpty());
  EXPECT_THAT(texts(look().remarks), Contains(HasSubstr("being compiled")));
}

std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

TEST(CudaCaches, AreCheckedByTheirIndex) {
  const Folder folder;
  const std::string entry = little(0x41, 4) + little(3, 8) + little(4, 8) + std::string(8, '?') + "ptxELF!";
  put(folder / "3/c/7a2cf553204c01", entry);
  put(folder / "index", little(0x41, 4) + little(1, 4) + little(7, 8) + little(0x3c7a2cf553204c01, 8) + little(7, 8));
  EXPECT_THAT(inspect(folder.path())->holds, ElementsAre("cuda"));
  EXPECT_THAT(texts(inspect(folder.path())->damage), IsEmpty());
  put(folder / "3/c/7a2cf553204c01", entry + "x");
  EXPECT_THAT(texts(inspect(folder.path())->damage), Contains(HasSubstr("has 36 bytes where its header says 35")));
  put(folder / "3/c/7a2cf553204c01", std::string(35, 'x'));
  EXPECT_THAT(texts(inspect(folder.path())->damage),
              ElementsAre(HasSubstr("does not begin as the driver's other files do")));
  fs::remove(folder / "3/c/7a2cf553204c01");
  EXPECT_THAT(texts(inspect(folder.path())->damage),
              ElementsAre(HasSubstr("names 3/c/7a2cf553204c01, which is not there")));
}

class Hostile : public Inspections {
protected:
  Hostile() { fs::create_directories(root + "/inductor/aa"); }
};

TEST_F(Hostile, LinksAreNotFollowed) {
  put(folder / "secret/file", "outside");
  fs::create_symlink(folder / "secret", root + "/inductor/zz");
  fs::create_symlink(folder / "secret/file", root + "/inductor/aa/" + key_of('c', 'z') + ".py");
  const Inspection inspection = look();
  for (const CachedFile& found : inspection.files)
    EXPECT_THAT(found.path, testing::Not(HasSubstr("zz/file")));
  EXPECT_THAT(texts(inspection.remarks), Contains(HasSubstr("a link; not followed")).Times(2));
}

TEST_F(Hostile, PipesAndHugeFilesAreNotRead) {
  ASSERT_EQ(mkfifo((root + "/inductor/aa/" + key_of('c', 'p') + ".py").c_str(), 0600), 0);
  put(root + "/inductor/aa/" + key_of('c', 'h') + ".py", "");
  fs::resize_file(root + "/inductor/aa/" + key_of('c', 'h') + ".py", std::uintmax_t{1} << 40U); // sparse
  const Inspection inspection = look();
  EXPECT_THAT(texts(inspection.damage), ElementsAre(HasSubstr("neither a file nor a folder")));
  EXPECT_THAT(inspection.unchecked, ElementsAre(HasSubstr("1 larger than")));
}

TEST_F(Hostile, NamesMayBeAnything) {
  put(root + "/inductor/fxgraph/aa/" + key_of('f', 'a') + "/new\nline\x1b[31m\xff", "x");
  EXPECT_THAT(texts(look().damage), ElementsAre(HasSubstr("its name is the digest of another content")));
}

TEST_F(Hostile, JsonMayNestDeeply) {
  put(file(cache.metadata), std::string(1'000'000, '['));
  put(file(other.metadata), std::string(300'000, '[') + std::string(300'000, ']'));
  EXPECT_EQ(layer_in(look(), "triton-json").damaged, 2);
}

TEST_F(Inspections, OfUnreadableFilesSaySo) {
  fs::permissions(file(cache.graph), fs::perms::none);
  EXPECT_EQ(as_ordinary_user([&] {
              const auto inspection = inspect(root);
              return inspection && inspection->damage.size() == 1 &&
                             inspection->damage[0].what.find("cannot be read") != std::string::npos
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_THAT(texts(look().damage), Contains(HasSubstr("its owner may not read it")));
}

TEST(Differences, AreCountedByEntry) {
  const Folder folder;
  const auto before = put_small_cache(folder / "a");
  put_small_cache(folder / "b");
  put_small_cache(folder / "b", 'c');
  const auto a = inspect(folder / "a");
  auto difference = compare(*a, *inspect(folder / "b"));
  EXPECT_EQ(difference.total.more, 5); // code, graph, AOTAutograd, kernel; a lock
  EXPECT_EQ(difference.total.same, 5);
  EXPECT_EQ(difference.total.less + difference.total.changed, 0);
  EXPECT_EQ(difference.total.after.entries, 8);
  difference = compare(*inspect(folder / "b"), *a);
  EXPECT_EQ(difference.total.less, 5);
  fs::remove_all(folder / "b");
  ASSERT_TRUE(copy_tree(folder / "a", folder / "b"));
  put(folder / "b/" + before.cubin, "another");
  difference = compare(*a, *inspect(folder / "b"));
  EXPECT_EQ(difference.total.changed, 1);
  ASSERT_EQ(difference.files.size(), 1U);
  EXPECT_EQ(difference.files[0].path, before.cubin);
  EXPECT_EQ(difference.files[0].what, "changed");
}

} // namespace
} // namespace racelab::cache::test

// By whom a cache was written.
#include "cache/writers.h"

#include "base/sha256.h"
#include "pickles.h"
#include "support.h"

#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace racelab::cache::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Writers writers_in(const std::string& root) {
  return writers_of(*inspect(root));
}

// A site-packages folder with a torch of two modules and its wheel's RECORD.
void install_torch(const std::string& folder, const std::string& codecache = "def torch_key(): pass\n") {
  put(folder + "/torch/version.py",
      "__version__ = '2.11.0'\ncuda: Optional[str] = '13.0'\ngit_version = '0123456789abcdef'\n");
  put(folder + "/torch/__init__.py", "");
  put(folder + "/torch/_inductor/__init__.py", "");
  put(folder + "/torch/_inductor/codecache.py", codecache);
  put(folder + "/torch/_inductor/script.ld", "SECTIONS");
  const auto line = [&](const std::string& path) {
    const std::string text = contents(folder + "/" + path);
    return fmt::format("{},sha256={},{}\n", path, base::base64_url(base::sha256(text)), text.size());
  };
  put(folder + "/torch-2.11.0.dist-info/RECORD", line("torch/_inductor/__init__.py") +
                                                     line("torch/_inductor/codecache.py") +
                                                     line("torch/_inductor/script.ld") + line("torch/version.py"));
}

TEST(Writers, AreToldByTheEntries) {
  const Folder folder;
  put_small_cache(folder.path(), 'a', "2.11.0+cu130");
  const Writers writers = writers_in(folder.path());
  ASSERT_EQ(writers.torch.size(), 1U);
  EXPECT_EQ(writers.torch[0].sources, std::string(51, 'a'));
  EXPECT_EQ(writers.torch[0].files, 2); // the graph, and AOTAutograd's entry, which says no version
  EXPECT_EQ(describe(writers.torch[0], writers), "torch 2.11.0+cu130 (0123456789), CUDA 13.0, triton 3.6.0");
  EXPECT_EQ(writers.written_at[0].value, "/elsewhere/inductor");
}

TEST(Writers, AreSeveralWhereTheSourcesAre) {
  const Folder folder;
  put_small_cache(folder.path(), 'a', "2.11.0");
  const auto later = put_small_cache(folder.path(), 'b', "2.15.0");
  const timespec future[] = {{4'000'000'000, 0}, {4'000'000'000, 0}};
  for (const std::string& file : {later.graph, later.aot})
    utimensat(AT_FDCWD, (folder / file).c_str(), future, 0);
  const Writers writers = writers_in(folder.path());
  ASSERT_EQ(writers.torch.size(), 2U);
  EXPECT_EQ(writers.torch[0].torch, "2.11.0"); // the first one first
  EXPECT_EQ(writers.torch[1].torch, "2.15.0");
}

TEST(Writers, AreNotToldByDamagedEntries) {
  const Folder folder;
  const auto cache = put_small_cache(folder.path());
  put(folder / cache.graph, contents(folder / cache.graph) + "x");
  EXPECT_EQ(writers_in(folder.path()).torch[0].torch, "");
}

TEST(InstalledTorches, AreReadAndNotRun) {
  const Folder folder;
  install_torch(folder.path());
  const InstalledTorch installed = look_at_installed(folder.path());
  EXPECT_TRUE(installed.there);
  EXPECT_EQ(installed.torch, "2.11.0");
  EXPECT_EQ(installed.git, "0123456789abcdef");
  EXPECT_EQ(installed.cuda, "13.0");
  EXPECT_TRUE(installed.has_record);
  EXPECT_THAT(installed.patched, IsEmpty());
  EXPECT_FALSE(look_at_installed(folder / "nowhere").there);
}

TEST(InstalledTorches, AreComparedWithTheirWheel) {
  const Folder folder;
  install_torch(folder.path());
  put(folder / "torch/_inductor/codecache.py", "def torch_key(): PASS\n"); // of the same size
  put(folder / "torch/_inductor/extra.py", "");
  fs::remove(folder / "torch/_inductor/script.ld");
  put(folder / "torch/nn.py", "not the compiler's");
  EXPECT_THAT(look_at_installed(folder.path()).patched,
              ElementsAre("torch/_inductor/codecache.py differs from its wheel", "torch/_inductor/script.ld is missing",
                          "torch/_inductor/extra.py is not of its wheel"));
}

// What torch/_inductor/codecache.py, torch_key() and FxGraphCachePickler.get_hash() make of install_torch().
std::string digest_of_installed() {
  base::Sha256Hasher hasher;
  for (const char* piece : {"2.11.0", "_inductor", "", "_inductor.codecache", "def torch_key(): pass\n", "version"})
    hasher.update(piece);
  hasher.update("__version__ = '2.11.0'\ncuda: Optional[str] = '13.0'\ngit_version = '0123456789abcdef'\n");
  hasher.update("SECTIONS");
  const auto key = hasher.finish();
  return torch_digest(std::string("\x80\x04\x95\x23\0\0\0\0\0\0\0C ", 13) + std::string(key.begin(), key.end()) + ".");
}

TEST(InstalledTorches, HaveTheDigestThatTorchPutsIntoItsKeys) {
  const Folder folder;
  install_torch(folder.path());
  put(folder / "torch/no_package/module.py", "a folder without __init__.py does not count");
  EXPECT_TRUE(look_at_installed(folder.path()).wrote(digest_of_installed()));
  put(folder / "torch/nn.py", ""); // one more module is another torch
  EXPECT_FALSE(look_at_installed(folder.path()).wrote(digest_of_installed()));
}

Writers written_by(const std::string& sources, const std::string& torch, const std::string& installed = {}) {
  Writers writers;
  Writer writer;
  writer.sources = sources;
  writer.torch = torch;
  writers.torch.push_back(writer);
  if (!installed.empty()) {
    Environment environment;
    environment.now.folder = installed;
    writers.environments.push_back(environment);
    InstalledTorches torches;
    look_at_environments(writers, {}, torches);
  }
  return writers;
}

TEST(Comparisons, NameAPatchedToolkit) {
  const Folder folder;
  install_torch(folder.path());
  put(folder / "torch-2.11.0.dist-info/RECORD", "torch/_inductor/codecache.py,sha256=AAAA,22\n");
  const Writers before = written_by(std::string(51, 'b'), "2.11.0");
  const Writers after = written_by(digest_of_installed(), "", folder.path());
  EXPECT_THAT(compare_writers(before, after), HasSubstr("written by a patched toolkit: torch 2.11.0"));
  EXPECT_THAT(compare_writers(before, after), HasSubstr("torch/_inductor/codecache.py differs from its wheel"));
  EXPECT_EQ(after.environments[0].wrote, digest_of_installed());
}

TEST(Comparisons, TellWhoWroteWhat) {
  const Writers a = written_by("a", "2.11.0"), changed = written_by("b", "2.11.0"), other = written_by("c", "2.15.0");
  EXPECT_EQ(compare_writers(a, a), "written by the same toolkit: torch 2.11.0");
  EXPECT_THAT(compare_writers(a, changed), HasSubstr("by a changed toolkit"));
  EXPECT_EQ(compare_writers(a, other), "written by another toolkit: torch 2.15.0; before, torch 2.11.0");
  EXPECT_EQ(compare_writers(Writers{}, a), "written by torch 2.11.0");
  EXPECT_EQ(compare_writers(a, Writers{}), "by whom the files do not tell");
}

} // namespace
} // namespace racelab::cache::test

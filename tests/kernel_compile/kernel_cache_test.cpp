#include "kernel_cache.h"

#include "../support/folder.h"
#include "support.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kernel_compile::test {
namespace {

namespace fs = std::filesystem;
using racelab::test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

constexpr Mistakes k_none;
const std::string k_payload = "the cubin of a kernel";

std::string payload_of(const LookUp& found) {
  const auto* entry = std::get_if<Found>(&found);
  return entry == nullptr ? "" : entry->payload;
}

std::string reason_of(const LookUp& found) {
  const auto* rejected = std::get_if<Rejected>(&found);
  return rejected == nullptr ? "" : rejected->reason;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) {
      names.push_back(file.path().filename());
    }
  }
  return names;
}

struct Change {
  const char* what;
  void (*make)(Identity&);
  const char* reason;
};

const std::vector<Change> k_changes = {
    {"kernel", [](Identity& i) { i.kernel = "square"; }, "foreign, of kernel scale"},
    {"source", [](Identity& i) { i.source += " "; }, "foreign, of key "},
    {"architecture", [](Identity& i) { i.architecture = "sm_80"; }, "foreign, for sm_90, not sm_80"},
    {"options", [](Identity& i) { i.options = ""; }, "foreign, compiled with other options"},
    {"major version", [](Identity& i) { i.nvrtc_major = 12; }, "foreign, by NVRTC 13.0, not 12.0"},
    {"minor version", [](Identity& i) { i.nvrtc_minor = 2; }, "foreign, by NVRTC 13.0, not 13.2"},
};

TEST(AnEntry, HoldsWhatWasPutIntoIt) {
  for (const std::string& payload : {std::string(), k_payload, std::string(100'000, '\0')}) {
    const auto decoded = decode_entry(encode_entry(identity(), payload, k_none), identity(), k_none);
    ASSERT_TRUE(decoded) << decoded.error();
    EXPECT_EQ(*decoded, payload);
  }
}

TEST(AnEntry, OfAnotherIdentityIsRejectedAndHasAnotherKey) {
  const std::string entry = encode_entry(identity(), k_payload, k_none);
  for (const Change& change : k_changes) {
    Identity other = identity();
    change.make(other);
    const auto decoded = decode_entry(entry, other, k_none);
    ASSERT_FALSE(decoded) << change.what;
    EXPECT_THAT(decoded.error(), StartsWith(change.reason));
    EXPECT_NE(key_of(other, k_none), key_of(identity(), k_none)) << change.what;
  }
}

TEST(AnEntry, CutOffAfterAnyByteIsRejectedAsHalfWritten) {
  const std::string entry = encode_entry(identity(), k_payload, k_none);
  for (std::size_t size = 0; size < entry.size(); ++size) {
    const auto decoded = decode_entry(entry.substr(0, size), identity(), k_none);
    ASSERT_FALSE(decoded) << size;
    EXPECT_THAT(decoded.error(), StartsWith("half-written")) << size;
  }
}

TEST(AnEntry, WithAnyBitFlippedOrAByteMoreIsRejected) {
  const std::string entry = encode_entry(identity(), k_payload, k_none);
  for (std::size_t bit = 0; bit < entry.size() * 8; ++bit) {
    std::string changed = entry;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_entry(changed, identity(), k_none)) << bit;
  }
  EXPECT_FALSE(decode_entry(entry + '\0', identity(), k_none));
}

TEST(TheMistakeNoChecksum, TakesADamagedPayload) {
  const Mistakes mistakes{.no_checksum = true};
  const std::string entry = encode_entry(identity(), k_payload, mistakes);
  EXPECT_EQ(decode_entry(entry, identity(), mistakes), k_payload);
  EXPECT_EQ(decode_entry(entry.substr(0, entry.size() - 10), identity(), mistakes),
            k_payload.substr(0, k_payload.size() - 10));
}

TEST(TheMistakeUnversionedKey, TakesAnEntryOfAnotherVersionOrArchitectureButNotOfAnotherKernel) {
  const Mistakes mistakes{.unversioned_key = true};
  const std::string entry = encode_entry(identity(), k_payload, mistakes);
  for (const Change& change : k_changes) {
    Identity other = identity();
    change.make(other);
    const bool is_versioned = change.what != std::string("kernel") && change.what != std::string("source");
    EXPECT_EQ(decode_entry(entry, other, mistakes).has_value(), is_versioned) << change.what;
    EXPECT_EQ(key_of(other, mistakes) == key_of(identity(), mistakes), is_versioned) << change.what;
  }
}

TEST(TheCache, FindsWhatWasPublishedAndNothingElse) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  EXPECT_TRUE(std::holds_alternative<Missing>(cache.look_up(identity())));
  ASSERT_TRUE(cache.publish(identity(), k_payload));
  EXPECT_EQ(payload_of(cache.look_up(identity())), k_payload);
  const std::string key = key_of(identity(), k_none);
  EXPECT_THAT(files_in(folder.path()), ElementsAre(key + ".kernel"));
  EXPECT_EQ(cache.entry_file(key), folder / (key.substr(0, 2) + "/" + key + ".kernel"));
  Identity other = identity();
  other.architecture = "sm_80";
  EXPECT_TRUE(std::holds_alternative<Missing>(cache.look_up(other)));
}

TEST(TheCache, ReplacesADamagedEntry) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  ASSERT_TRUE(cache.publish(identity(), k_payload));
  const std::string file = cache.entry_file(key_of(identity(), k_none));
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_THAT(reason_of(cache.look_up(identity())), StartsWith("half-written"));
  ASSERT_TRUE(cache.publish(identity(), k_payload));
  EXPECT_EQ(payload_of(cache.look_up(identity())), k_payload);
}

TEST(TheCache, RejectsAFolderWhereAnEntryShouldBe) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  fs::create_directories(cache.entry_file(key_of(identity(), k_none)));
  EXPECT_THAT(reason_of(cache.look_up(identity())), HasSubstr("Is a directory"));
  EXPECT_THAT(cache.publish(identity(), k_payload).error(), HasSubstr("Is a directory"));
  EXPECT_THAT(files_in(folder.path()), ElementsAre()); // no temporary file either
}

TEST(TheCache, DoesNotWaitForAPipeWhereAnEntryShouldBe) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  const std::string entry = cache.entry_file(key_of(identity(), k_none));
  fs::create_directories(fs::path(entry).parent_path());
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_THAT(reason_of(cache.look_up(identity())), HasSubstr("half-written"));
  EXPECT_TRUE(cache.publish(identity(), k_payload));
  EXPECT_TRUE(fs::is_regular_file(entry));
}

TEST(TheCache, RemovesWhatADeadWriterOfTheSameKernelLeft) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  const std::string key = key_of(identity(), k_none), beside = fs::path(cache.entry_file(key)).parent_path();
  fs::create_directories(beside);
  std::ofstream(beside + "/." + key + ".tmp.1.2") << "half";
  std::ofstream(beside + "/.other.tmp.1.2") << "half";
  ASSERT_TRUE(cache.publish(identity(), k_payload));
  EXPECT_THAT(files_in(folder.path()), UnorderedElementsAre(key + ".kernel", ".other.tmp.1.2"));
}

TEST(TheCache, SaysWhyItCannotPublish) {
  const Folder folder;
  std::ofstream(folder / "file") << "no folder";
  const KernelCache cache(folder / "file", k_none);
  EXPECT_THAT(cache.publish(identity(), k_payload).error(), HasSubstr("Not a directory"));
  EXPECT_THAT(KeyLock::take(cache, "key", "").error(), HasSubstr("Not a directory"));
}

TEST(TheCache, ShowsReadersWholeEntriesWhileWritersPublish) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  const std::string payload(200'000, 'x'), key = key_of(identity(), k_none);
  std::atomic<int> writers = 3, found = 0;
  std::atomic<bool> partial = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        const auto lock = KeyLock::take(cache, key, "");
        EXPECT_TRUE(lock && cache.publish(identity(), payload));
      }
      --writers;
    });
    threads.emplace_back([&] {
      while (writers > 0 || found == 0) {
        const LookUp seen = cache.look_up(identity());
        partial = partial || std::holds_alternative<Rejected>(seen);
        found += payload_of(seen) == payload ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(partial);
}

TEST(AKeysLock, IsHeldByOneThreadAtATime) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  int count = 0; // without the lock, additions would get lost
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        const auto lock = KeyLock::take(cache, "key", "");
        const int seen = count;
        std::this_thread::yield();
        count = seen + 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 4 * 500);
}

TEST(AKeysLock, OfAProcessThatWasKilledIsFree) {
  const Folder folder;
  const KernelCache cache(folder.path(), k_none);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = KeyLock::take(cache, "key", "");
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char taken = 0;
  ASSERT_EQ(read(ready[0], &taken, 1), 1);
  kill(child, SIGKILL);
  EXPECT_TRUE(KeyLock::take(cache, "key", "")); // waits for ever otherwise
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

} // namespace
} // namespace kernel_compile::test

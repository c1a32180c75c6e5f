#include "launch/output.h"
#include "support.h"

#include <random>

#include <gtest/gtest.h>

namespace racelab::launch::test {
namespace {

std::string letters(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += static_cast<char>('a' + i % 26);
  return text;
}

// What the file should hold of `text`.
std::string bounded(const std::string& text, std::size_t limit) {
  const std::size_t half = std::max<std::size_t>(limit / 2, 1);
  if (text.size() <= 2 * half)
    return text;
  return text.substr(0, half) + "\n[racelab: " + std::to_string(text.size() - 2 * half) +
         " bytes of output left out here]\n" + text.substr(text.size() - half);
}

TEST(BoundedOutput, KeepsTheHeadAndTheEndHoweverTheOutputComes) {
  const Folder folder;
  std::mt19937 random(1);
  for (const std::size_t limit : {0U, 1U, 2U, 10U, 11U, 64U}) {
    for (const std::size_t size : {0U, 1U, 2U, 9U, 10U, 11U, 12U, 21U, 64U, 65U, 500U}) {
      for (const std::size_t most : {1U, 3U, 1000U}) {
        const std::string text = letters(size);
        BoundedOutput output(folder / "out", limit);
        for (std::size_t at = 0; at < size;) {
          const std::size_t n = std::min(size - at, std::uniform_int_distribution<std::size_t>(1, most)(random));
          output.append(text.data() + at, n);
          at += n;
        }
        output.finish();
        ASSERT_EQ(contents(folder / "out"), bounded(text, limit)) << limit << " " << size << " " << most;
        ASSERT_EQ(output.total(), size);
        ASSERT_FALSE(output.lost());
      }
    }
  }
}

TEST(BoundedOutput, HasTheLastBytesAtHandBeforeItIsFinished) {
  const Folder folder;
  BoundedOutput output(folder / "out", 10);
  output.append("hello", 5);
  EXPECT_EQ(output.tail(3), "llo");
  EXPECT_EQ(output.tail(100), "hello");
  const std::string more = letters(20'000);
  output.append(more.data(), more.size());
  EXPECT_EQ(output.tail(26), more.substr(more.size() - 26));
}

TEST(BoundedOutput, WritesTheHeadAsItComes) {
  const Folder folder;
  BoundedOutput output(folder / "out", 20);
  output.append("hello", 5);
  EXPECT_EQ(contents(folder / "out"), "hello");
}

TEST(BoundedOutput, SaysThatItIsLostWhereTheFileCannotBeWritten) {
  const Folder folder;
  BoundedOutput nowhere(folder / "no/such/folder/out", 10);
  nowhere.append("hello", 5);
  nowhere.finish();
  EXPECT_TRUE(nowhere.lost());
  EXPECT_EQ(nowhere.tail(5), "hello");
  BoundedOutput full("/dev/full", 10);
  EXPECT_FALSE(full.lost());
  full.append("hello", 5);
  EXPECT_TRUE(full.lost());
}

} // namespace
} // namespace racelab::launch::test

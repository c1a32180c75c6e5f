// Lines of the output that report tokens.
#include "launch/token_lines.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::launch::test {
namespace {

struct Feed {
  TokenLines lines;

  explicit Feed(const TokenPattern& pattern) : lines(pattern) {}
  void operator()(const std::string& text, std::int64_t time) { lines.append(text.data(), text.size(), time); }
};

TEST(TokenLines, AreFoundAtTheTimeTheirEndCame) {
  Feed feed({"step .* ([0-9.,]+k?) tokens", 1, 0});
  feed("hello\nstep 1: 1,0", 1);
  feed("00 tokens\nstep 2: 3.5k tokens\nstep 3: 7 tok", 2);
  ASSERT_EQ(feed.lines.lines().size(), 2U);
  EXPECT_EQ(feed.lines.lines()[0].time_ns, 2);
  EXPECT_DOUBLE_EQ(feed.lines.lines()[0].number, 1000);
  EXPECT_DOUBLE_EQ(feed.lines.lines()[1].number, 3500);
  EXPECT_EQ(feed.lines.lines()[1].actor, "");
}

TEST(TokenLines, NameTheirActor) {
  Feed feed({"\\[(\\w+)\\] (\\S+) tok/s", 2, 1});
  feed("[drafter1] 12.5 tok/s\n[drafter2] many tok/s\n", 1);
  ASSERT_EQ(feed.lines.lines().size(), 1U); // "many" is no number
  EXPECT_EQ(feed.lines.lines()[0].actor, "drafter1");
  EXPECT_DOUBLE_EQ(feed.lines.lines()[0].number, 12.5);
}

TEST(TokenLines, LookAtTheBeginningOfALongLine) {
  Feed feed({"n=([0-9]+)", 1, 0});
  feed("n=5 " + std::string(1 << 20, 'x') + "\n", 1);
  feed(std::string(1 << 20, 'x') + " n=6\n", 2);
  ASSERT_EQ(feed.lines.lines().size(), 1U);
  EXPECT_DOUBLE_EQ(feed.lines.lines()[0].number, 5);
}

TEST(TokenLines, AreLookedAtInTheTimeOfALineWhateverThePattern) {
  Feed feed({"(a*)*(a*)*b([0-9])", 3, 0}); // every way to share the a's out, tried one after another, takes for ever
  const auto start = std::chrono::steady_clock::now();
  feed(std::string(1000, 'a') + "\n", 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  feed("aab7\n", 2);
  ASSERT_EQ(feed.lines.lines().size(), 1U);
  EXPECT_DOUBLE_EQ(feed.lines.lines()[0].number, 7);
}

} // namespace
} // namespace racelab::launch::test

#include "base/text.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::base {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(EditDistance, counts_inserts_deletes_replacements_and_swaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("abc", "abd"), 1);
  EXPECT_EQ(edit_distance("abc", "ab"), 1);
  EXPECT_EQ(edit_distance("abcd", "abdc"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(EditDistance, is_symmetric) {
  const std::vector<std::string> words = {"", "a", "trace", "tarce", "fx.trace.enter", "compiled_call"};
  for (const std::string& a : words)
    for (const std::string& b : words)
      EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << " / " << b;
}

TEST(Nearest, finds_a_likely_typing_mistake) {
  const std::vector<std::string> points = {"fx.trace.enter", "fx.trace.exit", "compiled_call.enter"};
  EXPECT_EQ(nearest("fx.trase.enter", points), "fx.trace.enter");
  EXPECT_EQ(nearest("trace.enter", points), "fx.trace.enter");
  EXPECT_EQ(nearest("fx.trace.exit", points), "fx.trace.exit");
}

TEST(Nearest, suggests_nothing_that_is_merely_short) {
  const std::vector<std::string> states = {"cold", "warm"};
  EXPECT_EQ(nearest("hot", states), std::nullopt);
  EXPECT_EQ(nearest("x", states), std::nullopt);
  EXPECT_EQ(nearest("", states), std::nullopt);
  EXPECT_EQ(nearest("a", std::vector<std::string>{"b"}), std::nullopt);
  EXPECT_EQ(nearest("codl", states), "cold");
}

TEST(DidYouMean, is_ready_to_be_appended) {
  const std::vector<std::string> states = {"cold", "warm"};
  EXPECT_EQ(did_you_mean("wram", states), "; did you mean 'warm'?");
  EXPECT_EQ(did_you_mean("lukewarmish", states), "");
}

TEST(Split, keeps_empty_parts) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Join, is_the_inverse_of_split) {
  for (const char* text : {"", "a", "a,b", ",,", "a,,b,"})
    EXPECT_EQ(join(split(text, ','), ","), text);
  EXPECT_EQ(join(std::vector<std::string>{}, ","), "");
}

TEST(Trim, removes_blanks_at_both_ends) {
  EXPECT_EQ(trim("  a b\t\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(GlobMatch, knows_star_and_question_mark) {
  EXPECT_TRUE(glob_match("cold/*", "cold/nested-trace"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**a*", "bba"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_TRUE(glob_match("*ab*ab", "abxab"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_FALSE(glob_match("cold", "cold/x"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("", ""));
}

TEST(GlobMatch, does_not_blow_up_on_many_stars) {
  std::string pattern;
  for (int i = 0; i < 200; ++i)
    pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

TEST(SplitWords, splits_as_a_shell_would) {
  EXPECT_THAT(*split_words("python train.py --x 1"), ElementsAre("python", "train.py", "--x", "1"));
  EXPECT_THAT(*split_words(R"(a 'b  c' "d \"e\" \n" f\ g)"), ElementsAre("a", "b  c", "d \"e\" \\n", "f g"));
  EXPECT_THAT(*split_words(R"(a'b'"c")"), ElementsAre("abc"));
  EXPECT_THAT(*split_words("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(*split_words("a \\\n b"), ElementsAre("a", "b"));
  EXPECT_THAT(*split_words("a\\\nb"), ElementsAre("ab"));
  EXPECT_THAT(*split_words("\"a\\\nb\""), ElementsAre("ab"));
  EXPECT_THAT(*split_words(R"('a\b' "it's" \\)"), ElementsAre("a\\b", "it's", "\\"));
  EXPECT_TRUE(split_words("  \t ")->empty());
}

TEST(SplitWords, refuses_what_is_not_closed) {
  EXPECT_FALSE(split_words("a 'b"));
  EXPECT_FALSE(split_words("a \"b"));
  EXPECT_FALSE(split_words("a \"b\\\""));
  EXPECT_FALSE(split_words("a\\"));
}

TEST(ParseDuration, needs_a_number_and_a_unit) {
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("2m"), milliseconds(120'000));
  EXPECT_EQ(parse_duration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(parse_duration(" 3 s "), milliseconds(3000));
  EXPECT_EQ(parse_duration("2m 5s"), milliseconds(125'000));
  EXPECT_EQ(parse_duration("0s"), milliseconds(0));
  EXPECT_EQ(parse_duration("0.6ms"), milliseconds(1));
}

TEST(ParseDuration, refuses_everything_else) {
  for (const char* text : {"", " ", "120", "s", "-1s", "1 sec", "1e3s", "1..5s", ".s", "1s 2", "nan s", "1d", "5 ms ms",
                           "1e400s", "99999999999999999h"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(FormatDuration, chooses_the_unit_a_person_would) {
  EXPECT_EQ(format_duration(milliseconds(0)), "0ms");
  EXPECT_EQ(format_duration(milliseconds(250)), "250ms");
  EXPECT_EQ(format_duration(milliseconds(1500)), "1.5s");
  EXPECT_EQ(format_duration(milliseconds(1234)), "1.23s");
  EXPECT_EQ(format_duration(milliseconds(12'345)), "12.3s");
  EXPECT_EQ(format_duration(milliseconds(59'949)), "59.9s");
  EXPECT_EQ(format_duration(milliseconds(59'960)), "1m");
  EXPECT_EQ(format_duration(milliseconds(120'000)), "2m");
  EXPECT_EQ(format_duration(milliseconds(125'400)), "2m 5s");
  EXPECT_EQ(format_duration(milliseconds(-1500)), "-1.5s");
}

TEST(FormatDuration, can_be_read_back_to_three_digits) {
  for (long long ms = 0; ms < 10'000'000; ms = ms * 3 / 2 + 1) {
    const auto back = parse_duration(format_duration(milliseconds(ms)));
    ASSERT_TRUE(back) << ms;
    EXPECT_NEAR(static_cast<double>(back->count()), static_cast<double>(ms), 0.009 * static_cast<double>(ms)) << ms;
  }
}

TEST(FormatSi, has_three_significant_digits) {
  EXPECT_EQ(format_si(0), "0");
  EXPECT_EQ(format_si(1), "1");
  EXPECT_EQ(format_si(353), "353");
  EXPECT_EQ(format_si(1900), "1.9 k");
  EXPECT_EQ(format_si(12'345'678), "12.3 M");
  EXPECT_EQ(format_si(999.4), "999");
  EXPECT_EQ(format_si(999.9), "1 k");
  EXPECT_EQ(format_si(999'999), "1 M");
  EXPECT_EQ(format_si(0.01234), "0.0123");
  EXPECT_EQ(format_si(-1900), "-1.9 k");
  EXPECT_EQ(format_si(9.999), "10");
}

TEST(FormatSi, survives_what_is_no_number) {
  EXPECT_EQ(format_si(std::nan("")), "nan");
  EXPECT_EQ(format_si(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_si(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(format_si(std::numeric_limits<double>::denorm_min()), "0");
}

TEST(FormatBytes, uses_decimal_units) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1000), "1 kB");
  EXPECT_EQ(format_bytes(353'000'000), "353 MB");
  EXPECT_EQ(format_bytes(std::numeric_limits<unsigned long long>::max()), "18447 PB");
}

} // namespace
} // namespace racelab::base

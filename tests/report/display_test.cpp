#include "report/display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::report {
namespace {

using ::testing::ElementsAre;

TEST(Printable, EscapesWhatWouldMoveTheCursorOrReorderText) {
  EXPECT_EQ(printable("a\nb\tc\r\x1b[0m\x7f"), R"(a\nb\tc\r\x1b[0m\x7f)");
  EXPECT_EQ(printable("\u0085\u202e\ufeff\uffff"), R"(\u0085\u202e\ufeff\uffff)");
  EXPECT_EQ(printable(std::string_view("\0", 1)), R"(\x00)");
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff \xc3"), R"(\xff \xc3)");
  EXPECT_EQ(printable("\xc0\xaf"), R"(\xc0\xaf)");         // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), R"(\xed\xa0\x80)"); // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), R"(\xf4\x90\x80\x80)");
}

TEST(Printable, LeavesTextAlone) {
  EXPECT_EQ(printable("naïve 日本語 😀 × …"), "naïve 日本語 😀 × …");
}

TEST(Columns, CountWideCharactersTwiceAndCombiningOnesNot) {
  EXPECT_EQ(columns_of("abc"), 3);
  EXPECT_EQ(columns_of("日本"), 4);
  EXPECT_EQ(columns_of("e\u0301×…"), 3);
  EXPECT_EQ(columns_of("😀"), 2);
}

TEST(Shorten, CutsAtTheColumnAndNeverWithinACharacter) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdef", 5), "abcd…");
  EXPECT_EQ(shorten("日本語", 5), "日本…");
  EXPECT_EQ(shorten("日本語", 4), "日…");
  EXPECT_EQ(shorten("abc", 0), "");
  EXPECT_EQ(shorten("", 0), "");
}

TEST(Pad, CountsColumnsNotBytes) {
  EXPECT_EQ(pad_right("é", 3), "é  ");
  EXPECT_EQ(pad_left("日", 3), " 日");
  EXPECT_EQ(pad_left("abc", 2), "abc");
}

TEST(Wrap, BreaksAtBlanksAndEndsWithAnEllipsis) {
  EXPECT_THAT(wrap("one two three", 7, 9), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three four", 7, 2), ElementsAre("one two", "three…"));
  EXPECT_THAT(wrap("abcdefghij", 4, 9), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(wrap("", 4, 9), ElementsAre(""));
  EXPECT_THAT(wrap("日本", 1, 3), ElementsAre("…")); // no room for a single character must not mean forever
  EXPECT_THAT(wrap("  indented", 6, 3), ElementsAre("  inde", "nted"));
}

TEST(NaturalOrder, ComparesNumbersByValue) {
  EXPECT_TRUE(natural_less("drafter2", "drafter10"));
  EXPECT_FALSE(natural_less("drafter10", "drafter2"));
  EXPECT_TRUE(natural_less("drafter", "drafter0"));
  EXPECT_TRUE(natural_less("a01", "a1") != natural_less("a1", "a01")); // a strict order
  EXPECT_FALSE(natural_less("a", "a"));
}

TEST(Paint, AddsNothingWithoutColours) {
  EXPECT_EQ(paint({.color = false}, Color::red, "x"), "x");
  EXPECT_EQ(paint({.color = true}, Color::red, "x"), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(paint({.color = true}, Color::red, ""), "");
}

TEST(ShellWord, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(shell_word("reports/runs/x-1.json"), "reports/runs/x-1.json");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word(""), "''");
}

} // namespace
} // namespace racelab::report

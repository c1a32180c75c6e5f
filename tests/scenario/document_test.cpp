// What stands before all meaning: bytes, YAML syntax, aliases and bounds.
#include "scenario/document.h"

#include "fixture.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<std::string> errors_of_document(const std::string& text) {
  Diagnostics diagnostics;
  const Value value = parse_document(text, "d.yaml", diagnostics);
  std::vector<std::string> errors;
  for (const base::Diagnostic& diagnostic : diagnostics.sorted())
    errors.push_back(to_string(diagnostic));
  EXPECT_TRUE(value.kind != Value::Kind::null || !errors.empty()) << "neither a value nor an error";
  return errors;
}

Value document(const std::string& text) {
  Diagnostics diagnostics;
  Value value = parse_document(text, "d.yaml", diagnostics);
  for (const base::Diagnostic& diagnostic : diagnostics.sorted())
    ADD_FAILURE() << to_string(diagnostic);
  return value;
}

struct Malformed {
  const char* title;
  std::string text;
  const char* place;
  const char* message;
};

void PrintTo(const Malformed& malformed, std::ostream* stream) {
  *stream << malformed.title;
}

class MalformedDocument : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedDocument, is_refused_with_its_place) {
  const auto errors = errors_of_document(GetParam().text);
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0], testing::StartsWith(std::string("d.yaml:") + GetParam().place + ": "));
  EXPECT_THAT(errors[0], HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Documents, MalformedDocument,
    testing::Values(Malformed{"empty", "", "1:1", "the file is empty"},
                    Malformed{"blank", " \n\n", "1:1", "the file is empty"},
                    Malformed{"comment_only", "# nothing\n", "1:1", "the file is empty"},
                    Malformed{"null", "~\n", "1:1", "the file is empty"},
                    Malformed{"open_list", "a: [1, 2\nb: 3\n", "2:2", "end of sequence flow not found"},
                    Malformed{"open_map", "a: {b: 1\n", "2:1", "end of map flow not found"},
                    Malformed{"open_double_quote", "a: 1\nb: \"x\n", "2:4", "this \" is never closed"},
                    Malformed{"open_single_quote", "a: 1\nb: 'x''\n", "2:4", "this ' is never closed"},
                    Malformed{"map_in_map", "a: b: c\n", "1:5", "illegal map value"},
                    Malformed{"tab_indent", "a:\n\tb: 1\n", "2:3", "indent with spaces, not with tabs"},
                    Malformed{"tab_after_value", "a: 1\n\tb: 1\n", "2:1", "indent with spaces, not with tabs"},
                    Malformed{"reserved", "a: @x\n", "1:4", "unknown token"},
                    Malformed{"unknown_alias", "a: *x\n", "1:4", "anchor is not defined"},
                    Malformed{"alias_in_itself", "a: &a [*a]\n", "1:8", "stands inside the value that it names"},
                    Malformed{"second_document", "a: 1\n---\nb: 2\n", "2:1", "a second document"},
                    Malformed{"outdented", "  a: 1\n b: 2\n", "2:2", "indented less"},
                    Malformed{"duplicate_key", "a: 1\nb: 2\n\na: 3\n", "4:1", "duplicate key 'a' (first on line 1)"},
                    Malformed{"duplicate_key_below", "x: [{b: 1, 'b': 2}]\n", "1:12", "duplicate key 'b'"},
                    Malformed{"list_as_key", "? [a]\n: b\n", "1:3", "a key must be a plain word"},
                    Malformed{"merge_key", "a: &a {b: 1}\nc: {<<: *a}\n", "2:5", "merge keys"},
                    Malformed{"tag", "a: !foo b\n", "1:4", "the tag '!foo' has no meaning"},
                    Malformed{"not_utf8", "a: 1\nb: x\xff\n", "2:5", "byte 0xFF is not UTF-8"},
                    Malformed{"overlong_utf8", "a: \xc0\xaf\n", "1:4", "is not UTF-8"},
                    Malformed{"surrogate", "a: \xed\xa0\x80\n", "1:4", "is not UTF-8"},
                    Malformed{"cut_utf8", "a: \xc3", "1:4", "is not UTF-8"},
                    Malformed{"utf16",
                              std::string("\xff\xfe"
                                          "a\0",
                                          4),
                              "1:1", "is not UTF-8"},
                    Malformed{"nul", std::string("a: b\0c\n", 7), "1:5", "control character 0x00"},
                    Malformed{"escape", "a: \x1b[1m\n", "1:4", "control character 0x1B"},
                    Malformed{"deep_flow", "a: " + std::string(100'000, '['), "1:36", "nested more than 64 deep"},
                    Malformed{"too_many_values", "[" + std::string(200'002, ',').replace(0, 1, "1") + "]", "1:100002",
                              "too many values"}),
    [](const auto& test) { return test.param.title; });

TEST(Document, of_more_than_four_mebibytes_is_refused_before_it_is_read) {
  EXPECT_THAT(errors_of_document(std::string((4U << 20U) + 1, '[')), ElementsAre(HasSubstr("bytes are too many")));
}

TEST(Document, with_deep_block_nesting_is_refused) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(errors_of_document(text), ElementsAre(HasSubstr("nested more than 64 deep")));
  EXPECT_THAT(errors_of_document(std::string(50'000, '-')), SizeIs(testing::Le(1)));
  std::string dashes;
  for (int i = 0; i < 50'000; ++i)
    dashes += "- ";
  EXPECT_THAT(errors_of_document(dashes + "a"), ElementsAre(HasSubstr("nested more than 64 deep")));
}

TEST(Document, cannot_be_blown_up_by_aliases) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string name = "a" + std::to_string(i), inner = "*a" + std::to_string(i - 1);
    text += name + ": &" + name + " [";
    for (int k = 0; k < 10; ++k)
      text += (k > 0 ? ", " : "") + inner;
    text += "]\n";
  }
  EXPECT_THAT(errors_of_document(text), ElementsAre(HasSubstr("too many values")));
}

TEST(Document, keeps_values_quotes_and_places) {
  const Value value = document("a: 1\nb: ['1', !!str 2, ~]\n");
  ASSERT_EQ(value.kind, Value::Kind::map);
  EXPECT_TRUE(value.find("a")->plain);
  EXPECT_EQ(value.find("a")->place, (base::SourcePlace{"d.yaml", 1, 4}));
  const std::vector<Value>& items = value.find("b")->items;
  ASSERT_EQ(items.size(), 3U);
  EXPECT_FALSE(items[0].plain);
  EXPECT_FALSE(items[1].plain);
  EXPECT_EQ(items[2].kind, Value::Kind::null);
  EXPECT_EQ(value.find("c"), nullptr);
}

TEST(Document, gives_a_missing_value_the_place_of_its_key) {
  const Value value = document("a: 1\nb:\n\n");
  EXPECT_EQ(value.entries[1].value.kind, Value::Kind::null);
  EXPECT_EQ(value.entries[1].value.place, (base::SourcePlace{"d.yaml", 2, 1}));
}

TEST(Document, counts_columns_in_characters) {
  EXPECT_THAT(errors_of_document("a: {é: 1, 'ü→': 2, é: 3}\n"), ElementsAre(HasSubstr("d.yaml:1:20: duplicate key")));
}

TEST(Document, may_start_with_a_byte_order_mark_and_have_windows_line_ends) {
  const Value value = document("\xEF\xBB\xBFname: \"x\"\r\nb: 'y'\r\n");
  EXPECT_EQ(value.find("name")->place, (base::SourcePlace{"d.yaml", 1, 7}));
  EXPECT_EQ(value.find("b")->text, "y");
  EXPECT_THAT(errors_of_document("\xEF\xBB\xBF"
                                 "a: \"x\n"),
              ElementsAre(HasSubstr("1:4: not valid YAML: this \"")));
}

TEST(Document, copies_an_alias_with_the_place_of_its_anchor) {
  const Value value = document("a: &x [1]\nb: *x\n");
  EXPECT_EQ(value.find("b")->items[0].place.line, 1);
}

TEST(Diagnostics, come_in_file_order_without_repetitions_and_bounded) {
  Diagnostics diagnostics;
  diagnostics.add({"f", 2, 1}, "b");
  diagnostics.add({"f", 1, 5}, "a");
  diagnostics.add({"f", 2, 1}, "b");
  EXPECT_THAT(diagnostics.sorted(), SizeIs(2));
  EXPECT_EQ(to_string(diagnostics.sorted()[0]), "f:1:5: a");
  for (int i = 0; i < 1000; ++i)
    diagnostics.add({"f", 10 + i, 1}, "c");
  EXPECT_TRUE(diagnostics.full());
  EXPECT_EQ(to_string(diagnostics.sorted().back()), "f: more errors follow; these are the first");
  EXPECT_THAT(diagnostics.sorted(), SizeIs(testing::Le(k_max_diagnostics + 1)));
}

TEST(Diagnostics, are_one_printable_line_each) {
  const auto errors = errors_of_document("{\"a\\n\\e[1m\": 1, \"a\\n\\e[1m\": 2}\n");
  EXPECT_THAT(errors, ElementsAre(HasSubstr("duplicate key 'a\\x0a\\x1b[1m'")));
  const std::string long_key = "\"" + std::string(1'000'000, 'x') + "\"";
  EXPECT_THAT(errors_of_document("? " + long_key + "\n: 1\n? " + long_key + "\n: 2\n"),
              ElementsAre(testing::SizeIs(testing::Le(700))));
}

// Whatever stands in a file, the parser answers with a scenario or with errors that have a place in it.
TEST(Document, never_crashes_on_a_damaged_scenario) {
  std::mt19937 random(11);
  const std::string good = test::k_complete;
  const std::string alphabet = "[]{},:-#&*!|>'\"%@ \n\tab0\xc3\xa9<?~";
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string text = good;
    for (unsigned k = 1 + random() % 3; k > 0; --k) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
      case 0:
        text[at] = alphabet[random() % alphabet.size()];
        break;
      case 1:
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
        break;
      case 2:
        text.erase(at, 1 + random() % 20);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
    }
    const auto scenario = parse_scenario(text, "f.yaml", "/s", test::vocabulary());
    if (scenario)
      continue;
    ++refused;
    ASSERT_FALSE(scenario.error().empty());
    for (const base::Diagnostic& diagnostic : scenario.error()) {
      ASSERT_EQ(diagnostic.place.file, "f.yaml") << text;
      ASSERT_FALSE(diagnostic.message.empty());
      ASSERT_GE(diagnostic.place.line, 1) << to_string(diagnostic) << text;
      ASSERT_GE(diagnostic.place.column, 1) << to_string(diagnostic) << text;
    }
  }
  EXPECT_GT(refused, 300);
}

} // namespace
} // namespace racelab::scenario

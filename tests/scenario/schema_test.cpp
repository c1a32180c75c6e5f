// The one description of the file format, and what follows from it: the published schema, the documentation.
#include "fixture.h"
#include "scenario/keys.h"
#include "scenario/shape.h"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::scenario {
namespace {

using testing::HasSubstr;

const std::string k_schema_file = RACELAB_SOURCE_DIR "/reports/schemas/scenario.schema.json";

std::string read_file(const std::string& name) {
  std::ifstream file(name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void visit(const Shape& shape, const std::function<void(const Shape&)>& f) {
  f(shape);
  for (const Shape& inner : shape.inner)
    visit(inner, f);
  for (const Key& key : shape.keys)
    visit(key.shape, f);
}

// RACELAB_UPDATE_FILES=1 writes the file anew.
TEST(Schema, is_the_published_file) {
  const std::string text = scenario_schema({}).dump(2) + "\n";
  if (std::getenv("RACELAB_UPDATE_FILES") != nullptr)
    std::ofstream(k_schema_file) << text;
  EXPECT_TRUE(read_file(k_schema_file) == text)
      << "reports/schemas/scenario.schema.json is out of date; run this test with RACELAB_UPDATE_FILES=1";
}

TEST(Schema, enumerates_features_but_not_fault_kinds_which_a_file_may_add_to) {
  const Json schema = scenario_schema(test::vocabulary());
  const Json& rule = schema.at("properties").at("expect").at("items").at("properties");
  EXPECT_FALSE(rule.at("faults").at("propertyNames").contains("enum"));
  EXPECT_THAT(rule.at("when").dump(), HasSubstr(R"("enum":["true","false",true,false])"));
}

TEST(Schema, requires_what_the_parser_requires_and_forbids_other_keys) {
  const Json schema = scenario_schema({});
  EXPECT_EQ(schema.at("required"), Json::parse(R"(["racelab", "name", "pipeline"])"));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(schema.at("properties").at("pipeline").at("required"), Json::parse(R"(["command"])"));
}

TEST(Shape, documents_every_key) {
  visit(scenario_shape(test::vocabulary()), [](const Shape& shape) {
    for (const Key& key : shape.keys) {
      EXPECT_THAT(key.doc, testing::EndsWith(".")) << key.name;
      EXPECT_TRUE(!key.required || key.fallback.empty()) << key.name << " is required and has a default";
    }
  });
}

TEST(Documentation, names_every_key_and_every_word_of_the_format) {
  const std::string text = read_file(RACELAB_SOURCE_DIR "/docs/scenarios.md");
  visit(scenario_shape({}), [&](const Shape& shape) {
    for (const Key& key : shape.keys)
      EXPECT_THAT(text, HasSubstr("`" + key.name + "`"));
    for (const std::string& word : shape.words)
      EXPECT_THAT(text, HasSubstr("`" + word + "`"));
  });
}

TEST(Documentation, has_examples_that_parse) {
  const std::string text = read_file(RACELAB_SOURCE_DIR "/docs/scenarios.md");
  int examples = 0;
  for (std::size_t begin = text.find("```yaml\nracelab:"); begin != std::string::npos;
       begin = text.find("```yaml\nracelab:", begin + 1)) {
    const std::size_t start = begin + std::string("```yaml\n").size();
    test::parse(text.substr(start, text.find("```", start) - start));
    ++examples;
  }
  EXPECT_GE(examples, 1);
}

// The pattern that editors check and the function that the parser calls must not drift apart.
TEST(Formats, accept_what_their_pattern_accepts) {
  const std::vector<std::string> samples = {"",
                                            " ",
                                            "a",
                                            "a b",
                                            ".",
                                            "..",
                                            "...",
                                            "a.b",
                                            ".a",
                                            "a.",
                                            "a..b",
                                            "a-b",
                                            "a_b",
                                            "1",
                                            "1a",
                                            "a1",
                                            "_a",
                                            "-a",
                                            "a/b",
                                            "a:b",
                                            "a.b:c.d",
                                            ":a",
                                            "a:",
                                            "a:b:c",
                                            "a.:b",
                                            "é",
                                            "A.B-c_9",
                                            "0.tokens",
                                            "a.0",
                                            std::string(80, 'x'),
                                            std::string(81, 'x'),
                                            "a.1:b",
                                            "a:1"};
  for (const Format format : {Format::name, Format::point_name, Format::environment_name, Format::dotted_path,
                              Format::attribute, Format::value_path, Format::text}) {
    const FormatRule& rule = rule_of(format);
    const std::regex pattern(rule.pattern);
    for (const std::string& sample : samples)
      EXPECT_EQ(rule.accepts(sample), std::regex_search(sample, pattern)) << "'" << sample << "' as " << rule.meaning;
  }
}

TEST(Formats, of_events_and_orders_have_patterns_that_accept_what_the_parser_accepts) {
  const std::regex event(rule_of(Format::event).pattern), order(rule_of(Format::order).pattern);
  EXPECT_TRUE(std::regex_search("drafter0 fx.trace.enter#2", event));
  EXPECT_TRUE(std::regex_search("Thread-1 (run) fx.trace.enter", event));
  EXPECT_FALSE(std::regex_search("fx.trace.enter", event));
  EXPECT_FALSE(std::regex_search("a b#0", event));
  EXPECT_TRUE(std::regex_search("A x < B y", order));
  EXPECT_TRUE(std::regex_search("A x#1 < B y < C z", order));
  EXPECT_FALSE(std::regex_search("A x", order));
}

} // namespace
} // namespace racelab::scenario

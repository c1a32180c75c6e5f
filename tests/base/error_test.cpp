#include "base/error.h"

#include <gtest/gtest.h>

namespace racelab::base {
namespace {

TEST(SourcePlace, leaves_out_what_is_not_known) {
  EXPECT_EQ(to_string(SourcePlace{"a.yaml", 14, 7}), "a.yaml:14:7");
  EXPECT_EQ(to_string(SourcePlace{"a.yaml", 14, 0}), "a.yaml:14");
  EXPECT_EQ(to_string(SourcePlace{"a.yaml", 0, 0}), "a.yaml");
  EXPECT_EQ(to_string(SourcePlace{}), "");
}

TEST(Diagnostic, is_a_place_and_a_message) {
  EXPECT_EQ(to_string(Diagnostic{{"a.yaml", 1, 2}, "wrong"}), "a.yaml:1:2: wrong");
  EXPECT_EQ(to_string(Diagnostic{{}, "wrong"}), "wrong");
}

TEST(UserError, carries_its_text_and_exit_code) {
  const UserError error(ExitCode::environment, "no such toolkit");
  EXPECT_STREQ(error.what(), "no such toolkit");
  EXPECT_EQ(error.code(), ExitCode::environment);
}

TEST(UserError, of_several_diagnostics_has_a_line_for_each_and_is_a_usage_error) {
  const UserError error(std::vector<Diagnostic>{{{"a.yaml", 1, 2}, "first"}, {{"a.yaml", 3, 4}, "second"}});
  EXPECT_STREQ(error.what(), "a.yaml:1:2: first\na.yaml:3:4: second");
  EXPECT_EQ(error.code(), ExitCode::usage);
}

} // namespace
} // namespace racelab::base

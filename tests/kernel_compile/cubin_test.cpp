#include "cubin.h"

#include "support.h"
#include "worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernel_compile::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ACubin, SaysItsArchitectureReleaseAndKernels) {
  for (const bool old_abi : {false, true}) {
    const auto read = read_cubin(cubin(90, "scale", "13.0", old_abi));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->architecture, 90);
    EXPECT_EQ(read->release, "13.0");
    EXPECT_THAT(read->functions, ElementsAre("scale"));
  }
}

TEST(ACubin, CutOffAnywhereIsToldFromAWholeOne) {
  const std::string whole = cubin(90, "scale", "13.0");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_cubin(whole.substr(0, size))) << size;
  }
}

// What it says of itself may be wrong, but nothing outside of it is read: the sanitizers watch.
TEST(ACubin, WithAnyByteChangedIsReadWithinItsBounds) {
  const std::string whole = cubin(90, "scale", "13.0");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[i] = value;
      const auto read = read_cubin(changed);
      EXPECT_TRUE(read || !read.error().empty());
    }
  }
}

TEST(ACubin, ThatIsNoneIsRefused) {
  EXPECT_THAT(read_cubin("").error(), HasSubstr("not an ELF"));
  EXPECT_THAT(read_cubin("#!/bin/sh\n").error(), HasSubstr("not an ELF"));
  std::string other = cubin(90, "scale", "13.0");
  other[18] = 62; // e_machine: x86-64
  EXPECT_THAT(read_cubin(other).error(), HasSubstr("not a cubin"));
}

TEST(TheCheckOfACubin, FindsWhatIsNotTheOneAskedFor) {
  EXPECT_EQ(problem_of_cubin(cubin(90, "scale", "13.0"), identity()), "");
  EXPECT_EQ(problem_of_cubin(cubin(80, "scale", "13.0"), identity()), "foreign: a cubin for sm_80, not sm_90");
  EXPECT_EQ(problem_of_cubin(cubin(90, "square", "13.0"), identity()), "foreign: a cubin of square");
  EXPECT_EQ(problem_of_cubin(cubin(90, "scale", "13.2"), identity()), "foreign: a cubin by release 13.2, not 13.0");
  EXPECT_EQ(problem_of_cubin(cubin(90, "", "13.0"), identity()), "damaged: it holds no kernel");
  EXPECT_THAT(problem_of_cubin("half", identity()), StartsWith("damaged: "));
}

TEST(AnArchitecture, IsANumberOrRefused) {
  EXPECT_EQ(architecture_number("sm_90"), 90);
  EXPECT_EQ(architecture_number("sm_90a"), 90);
  EXPECT_EQ(architecture_number("sm_120"), 120);
  for (const char* wrong : {"", "sm_", "90", "sm_9", "sm_9a0", "compute_90", "sm_90000"}) {
    EXPECT_EQ(architecture_number(wrong), 0) << wrong;
  }
}

} // namespace
} // namespace kernel_compile::test

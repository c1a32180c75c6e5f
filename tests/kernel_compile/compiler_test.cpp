#include "compiler.h"

#include "cubin.h"
#include "kernels.h"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernel_compile::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// NVRTC of this machine, or of what ci/setup installed.
const tl::expected<Compiler, std::string>& nvrtc() {
  static const auto compiler = [] {
    std::string packages = std::string(RACELAB_SOURCE_DIR) + "/build/vendor/nvrtc";
    std::error_code ignored;
    for (const auto& toolkit : fs::directory_iterator(std::string(RACELAB_SOURCE_DIR) + "/build/toolkits", ignored)) {
      for (const auto& version : fs::directory_iterator(toolkit.path() / "lib", ignored)) {
        packages += ":" + (version.path() / "site-packages").string();
      }
    }
    setenv("KERNEL_COMPILE_PACKAGES", packages.c_str(), 1);
    return Compiler::load("");
  }();
  return compiler;
}

TEST(Nvrtc, CompilesEveryKernelForTheArchitectureAskedFor) {
  ASSERT_TRUE(nvrtc()) << nvrtc().error() << "\n(ci/setup --dev installs it)";
  for (const Kernel& kernel : all_kernels()) {
    for (const int architecture : {80, 90}) {
      const auto cubin =
          nvrtc()->compile(std::string(kernel.name), kernel.source(), "sm_" + std::to_string(architecture), {});
      ASSERT_TRUE(cubin) << cubin.error();
      const auto read = read_cubin(*cubin);
      ASSERT_TRUE(read) << read.error();
      EXPECT_EQ(read->architecture, architecture);
      EXPECT_THAT(read->functions, Contains(kernel.name));
      EXPECT_EQ(read->release, std::to_string(nvrtc()->major()) + "." + std::to_string(nvrtc()->minor()));
    }
  }
}

TEST(Nvrtc, MakesTheSameBytesOfTheSameSource) {
  ASSERT_TRUE(nvrtc()) << nvrtc().error();
  const std::string source = all_kernels()[0].source();
  EXPECT_EQ(nvrtc()->compile("scale", source, "sm_90", {}), nvrtc()->compile("scale", source, "sm_90", {}));
}

TEST(Nvrtc, SaysWhatIsWrongWithASource) {
  ASSERT_TRUE(nvrtc()) << nvrtc().error();
  EXPECT_THAT(nvrtc()->compile("broken", "__global__ void f( {", "sm_90", {}).error(),
              HasSubstr("broken.cu(1): error"));
  EXPECT_THAT(nvrtc()->compile("scale", all_kernels()[0].source(), "sm_7", {}).error(), HasSubstr("INVALID_OPTION"));
}

TEST(Nvrtc, ThatIsMissingIsToldWithWhatWasTried) {
  EXPECT_THAT(Compiler::load("/nowhere/libnvrtc.so").error(), HasSubstr("/nowhere/libnvrtc.so"));
  EXPECT_THAT(Compiler::load("libm.so.6").error(), HasSubstr("has no function"));
}

} // namespace
} // namespace kernel_compile::test

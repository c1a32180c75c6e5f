#pragma once
// Interpreters that only know how to say what they are, and an environment in which nothing else is found.
#include "toolkit/toolkit.h"

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace racelab::toolkit::test {

// What the agent's probe prints of a toolkit without a GPU.
nlohmann::json probe();

// A temporary folder in which RACELAB_TOOLKITS, RACELAB_AGENT_DIR and XDG_CACHE_HOME point; RACELAB_PYTHON is not set
// and PATH has nothing but the system's own programs.
class Toolkits : public testing::Test {
protected:
  Toolkits();
  ~Toolkits() override;

  std::string operator/(const std::string& name) const { return m_folder + "/" + name; }
  void set(const std::string& variable, const std::optional<std::string>& value);

  // Makes PREFIX/bin/NAME, which prints the probe and notes each time that it is asked.
  std::string make_python(const std::string& prefix, const nlohmann::json& says, const std::string& name = "python");
  std::string make_python_that(const std::string& prefix, const std::string& does);
  int times_asked(const std::string& prefix) const;
  static void put(const std::string& file, const std::string& text);
  static std::string read(const std::string& file);

  // What get() says if it fails, "found" otherwise. A failure must be the environment's.
  static std::string failure(ToolkitSource& source, const std::string& name);

private:
  std::string m_folder;
  std::map<std::string, std::optional<std::string>> m_before;
};

} // namespace racelab::toolkit::test

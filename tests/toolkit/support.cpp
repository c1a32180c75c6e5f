#include "support.h"

#include "base/error.h"
#include "base/files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace racelab::toolkit::test {

namespace fs = std::filesystem;

nlohmann::json probe() {
  return {{"python", "3.12.1"},
          {"executable", "/x/python"},
          {"torch", "2.9.0"},
          {"torch_git", "abc123"},
          {"triton", nullptr},
          {"cuda", nullptr},
          {"driver", nullptr},
          {"gpus", nlohmann::json::array()},
          {"features", {{"fx_flag", "global"}, {"gpu", "false"}}},
          {"missing_points", {{"flex.joint", "AttributeError: no"}}},
          {"packages", {"numpy 2.0", "torch 2.9.0"}}};
}

Toolkits::Toolkits() : m_folder((fs::temp_directory_path() / "toolkit-test-XXXXXX").string()) {
  if (mkdtemp(m_folder.data()) == nullptr)
    throw std::runtime_error("no temporary folder");
  m_folder = fs::canonical(m_folder).string();
  put(*this / "agent/libracelab_agent.so", "");
  put(*this / "agent/racelab_agent/probe.py", "");
  put(*this / "agent/racelab_agent/catalogue.json", "{}");
  fs::create_directories(*this / "toolkits");
  set("RACELAB_TOOLKITS", *this / "toolkits");
  set("RACELAB_AGENT_DIR", *this / "agent");
  set("XDG_CACHE_HOME", *this / "cache");
  set("RACELAB_PYTHON", std::nullopt);
  set("CUDA_VISIBLE_DEVICES", std::nullopt);
  fs::create_directories(*this / "path");
  for (const char* program : {"cat", "sh", "echo"})
    fs::create_symlink(std::string("/bin/") + program, *this / ("path/" + std::string(program)));
  set("PATH", *this / "path");
}

Toolkits::~Toolkits() {
  for (const auto& [variable, value] : m_before) {
    if (value)
      setenv(variable.c_str(), value->c_str(), 1);
    else
      unsetenv(variable.c_str());
  }
  std::error_code ignored;
  fs::remove_all(m_folder, ignored);
}

void Toolkits::set(const std::string& variable, const std::optional<std::string>& value) {
  const char* before = std::getenv(variable.c_str());
  m_before.emplace(variable,
                   before == nullptr ? std::nullopt : std::optional<std::string>(before)); // the first one counts
  if (value)
    setenv(variable.c_str(), value->c_str(), 1);
  else
    unsetenv(variable.c_str());
}

std::string Toolkits::make_python(const std::string& prefix, const nlohmann::json& says, const std::string& name) {
  put(prefix + "/says.json", says.dump());
  const std::string python = make_python_that(prefix, "cat '" + prefix + "/says.json'");
  if (name == "python")
    return python;
  fs::rename(python, prefix + "/bin/" + name);
  return prefix + "/bin/" + name;
}

std::string Toolkits::make_python_that(const std::string& prefix, const std::string& does) {
  const std::string python = prefix + "/bin/python";
  put(python, "#!/bin/sh\necho \"$*|$PYTHONPATH\" >> '" + prefix + "/asked'\n" + does + "\n");
  fs::permissions(python, fs::perms(0755));
  fs::create_directories(prefix + "/lib/python3.12/site-packages/torch");
  return python;
}

int Toolkits::times_asked(const std::string& prefix) const {
  const std::string asked = read(prefix + "/asked");
  return static_cast<int>(std::count(asked.begin(), asked.end(), '\n'));
}

std::string Toolkits::read(const std::string& file) {
  return base::read_file(file).value_or("");
}

void Toolkits::put(const std::string& file, const std::string& text) {
  fs::create_directories(fs::path(file).parent_path());
  if (!base::write_file(file, text))
    throw std::runtime_error(file + " cannot be written");
}

std::string Toolkits::failure(ToolkitSource& source, const std::string& name) {
  try {
    source.get(name);
  } catch (const base::UserError& error) {
    EXPECT_EQ(error.code(), base::ExitCode::environment);
    return error.what();
  }
  return "found";
}

} // namespace racelab::toolkit::test

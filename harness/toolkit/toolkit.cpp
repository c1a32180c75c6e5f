#include "toolkit/toolkit.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/paths.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

namespace racelab::toolkit {

namespace fs = std::filesystem;
using base::environment_value;

namespace {

constexpr std::chrono::minutes k_probe_limit{5};

std::string text_or_empty(const nlohmann::json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  if (const std::string given = environment_value("RACELAB_TOOLKITS"); !given.empty()) {
    folders.push_back(given);
  }
  folders.push_back(base::cache_home() + "/toolkits/by-name");
  return folders;
}

std::string in_path(const std::string& program) {
  for (const std::string& folder : base::split(environment_value("PATH"), ':')) {
    const std::string candidate = folder + "/" + program;
    if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

[[noreturn]] void fail(const std::string& message) {
  throw base::UserError(base::ExitCode::environment, message);
}

std::string find_python(const std::string& name, const std::vector<std::string>& known) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) != 0 || fs::is_directory(name)) {
      fail("toolkit '" + name + "': no such interpreter (a program that can be run)");
    }
    return fs::absolute(name).string();
  }
  if (name == "current") {
    if (const std::string given = environment_value("RACELAB_PYTHON"); !given.empty()) {
      const std::string python = given.find('/') == std::string::npos ? in_path(given) : given;
      if (python.empty()) {
        fail("RACELAB_PYTHON is '" + given + "', and there is no such program in PATH");
      }
      return find_python(python, known);
    }
  }
  for (const std::string& folder : toolkit_folders()) {
    const std::string python = folder + "/" + name + "/bin/python";
    if (access(python.c_str(), X_OK) == 0) {
      return python;
    }
  }
  if (name == "current") {
    if (const std::string python = in_path("python3"); !python.empty()) {
      return python;
    }
    fail("no Python: neither $RACELAB_PYTHON, nor a toolkit 'current' (ci/setup), nor python3 in PATH");
  }
  fail(
      "no toolkit '" + name + "'; there is " + base::join(known, ", ") +
      ". `ci/setup --toolkit NAME` installs one of ci/toolkits/, and a path to a Python interpreter is a toolkit, too");
}

std::string stamp(const std::string& path) {
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0) {
    return "-";
  }
  return std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec) + ":" +
         std::to_string(info.st_size);
}

// What changes when packages of the interpreter change, or the machine's GPUs.
std::string state_of(const std::string& python) {
  std::string text = stamp(python);
  const fs::path prefix = fs::path(python).parent_path().parent_path();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) {
    const fs::path packages = entry.path() / "site-packages";
    text += "|" + stamp(packages.string()) + "|" + stamp((packages / "torch/version.py").string());
  }
  for (const char* device : {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/proc/driver/nvidia/version"}) {
    text += access(device, F_OK) == 0 ? "1" : "0";
  }
  return text + environment_value("CUDA_VISIBLE_DEVICES", "all");
}

nlohmann::json ask(const std::string& python, const std::string& agent) {
  base::Environment environment{{"PYTHONPATH", agent}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "LANG"}) {
    if (const std::string value = environment_value(name); !value.empty()) {
      environment.emplace_back(name, value);
    }
  }
  const auto output = base::run_and_capture({python, "-m", "racelab_agent.probe"}, environment, k_probe_limit);
  if (!output) {
    fail(output.error());
  }
  const auto json = nlohmann::json::parse(output->out, nullptr, false);
  if (output->exit_code != 0 || !json.is_object()) {
    fail(python + " cannot say what it is (exit " + std::to_string(output->exit_code) + "):\n" + output->err);
  }
  return json;
}

} // namespace

Toolkit from_probe(const std::string& name, const nlohmann::json& probe) {
  Toolkit t;
  t.name = name;
  t.python_version = text_or_empty(probe, "python");
  t.torch = text_or_empty(probe, "torch");
  t.torch_git = text_or_empty(probe, "torch_git");
  t.triton = text_or_empty(probe, "triton");
  t.cuda = text_or_empty(probe, "cuda");
  t.driver = text_or_empty(probe, "driver");
  t.error = text_or_empty(probe, "error");
  for (const auto& gpu : probe.at("gpus")) {
    t.gpus.push_back(gpu.at("name").get<std::string>());
  }
  t.features = probe.at("features").get<std::map<std::string, std::string>>();
  t.missing_points = probe.at("missing_points").get<std::map<std::string, std::string>>();
  t.packages_digest = base::digest(probe.at("packages").dump());
  t.fingerprint = base::digest(t.python_version + "|" + t.torch + "|" + t.torch_git + "|" + t.triton + "|" + t.cuda +
                               "|" + t.driver + "|" + base::join(t.gpus, ",") + "|" + t.packages_digest);
  return t;
}

namespace {

// The toolkit of a memo that was made in that state; nullopt: there is none, or it is damaged.
std::optional<Toolkit> remembered(const std::string& name, const std::string& file, const std::string& state) {
  const auto text = base::read_file(file);
  if (!text) {
    return std::nullopt;
  }
  try {
    const auto kept = nlohmann::json::parse(*text);
    return kept.at("state") == state ? std::optional<Toolkit>(from_probe(name, kept.at("probe"))) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

} // namespace

Toolkit InstalledToolkits::get(const std::string& name) {
  if (const auto known = m_known.find(name); known != m_known.end()) {
    return known->second;
  }
  const auto added = m_added.find(name);
  const std::string python = find_python(added == m_added.end() ? name : added->second, names());
  const std::string agent = base::agent_folder();
  const std::string state = state_of(python) + "|" + stamp(agent + "/racelab_agent/probe.py") + "|" +
                            stamp(agent + "/racelab_agent/catalogue.json");
  const std::string file = base::cache_home() + "/probes/" + base::digest(python) + ".json";
  std::optional<Toolkit> toolkit = remembered(name, file, state);
  if (!toolkit) {
    const nlohmann::json probe = ask(python, agent);
    try {
      toolkit = from_probe(name, probe);
    } catch (const std::exception& error) {
      fail(python + " cannot say what it is: " + error.what());
    }
    if (base::make_folders(fs::path(file).parent_path().string())) {
      static_cast<void>(
          base::write_file(file, nlohmann::json{{"state", state}, {"probe", probe}}.dump())); // only a memo
    }
  }
  toolkit->python = python;
  m_known[name] = *toolkit;
  return *toolkit;
}

std::string InstalledToolkits::add(const std::string& given) {
  const std::size_t slash = given.find('/'), equals = given.find('=');
  if (slash == std::string::npos) {
    return given;
  }
  std::string name = equals < slash ? given.substr(0, equals) : std::string();
  const fs::path path = equals < slash ? given.substr(equals + 1) : given;
  if (name.empty()) {
    const std::string folder = fs::absolute(path).lexically_normal().parent_path().parent_path().filename().string();
    std::string plain;
    for (const char c : folder.empty() ? std::string("python") : folder) {
      plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
    }
    name = plain;
    for (int n = 2; m_added.count(name) != 0 && m_added[name] != path.string(); ++n) {
      name = plain + "-" + std::to_string(n);
    }
  }
  m_added[name] = path.string();
  return name;
}

std::vector<std::string> InstalledToolkits::names() {
  std::vector<std::string> names{"current"};
  const auto add_new = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const auto& [name, path] : m_added) {
    add_new(name);
  }
  for (const std::string& folder : toolkit_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (access((entry.path() / "bin/python").c_str(), X_OK) == 0) {
        add_new(entry.path().filename().string());
      }
    }
  }
  std::sort(names.begin() + 1, names.end());
  return names;
}

} // namespace racelab::toolkit

#pragma once
// Toolkits: a Python interpreter with what is installed in it, found by name, described by looking.
#include "base/subprocess.h"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::toolkit {

struct Toolkit {
  std::string name;   // "current", "torch-2.15"
  std::string python; // absolute path of the interpreter
  std::string python_version, torch, torch_git, triton, cuda, driver;
  std::vector<std::string> gpus;
  std::map<std::string, std::string> features;       // agent's probe.py explains each
  std::map<std::string, std::string> missing_points; // point -> why
  std::string packages_digest;
  std::string fingerprint; // over everything above that can change what a compile makes
  std::string error;       // torch cannot be imported: why
};

// Finds and describes toolkits. The real one asks interpreters; tests use one that is given its answers.
class ToolkitSource {
public:
  virtual ~ToolkitSource() = default;
  // Throws base::UserError (environment): no such toolkit, its interpreter does not run.
  virtual Toolkit get(const std::string& name) = 0;
  // Names that get() would find, for messages and `list toolkits`.
  virtual std::vector<std::string> names() = 0;
};

// A name is, in this order: one that was added; a path to an interpreter (it has a '/'); a folder of that name in
// $RACELAB_TOOLKITS (which
// ./racelab sets) or in the cache folder; "current": $RACELAB_PYTHON, or the folder's toolkit "current", or python3 of
// PATH. What an interpreter is gets asked once and kept in the cache folder until its packages change.
class InstalledToolkits : public ToolkitSource {
public:
  Toolkit get(const std::string& name) override;
  std::vector<std::string> names() override;

  // Takes "NAME", "PATH" of an interpreter or "NAME=PATH", as users give it, and returns the name it has from now on. A
  // path without a name is called after its environment's folder.
  std::string add(const std::string& given);

private:
  std::map<std::string, std::string> m_added; // name -> path
  std::map<std::string, Toolkit> m_known;
};

// The toolkit described by the output of the agent's probe. Throws std::exception if it is not that.
Toolkit from_probe(const std::string& name, const nlohmann::json& probe);

} // namespace racelab::toolkit

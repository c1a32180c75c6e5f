#pragma once
// A small catalogue, a small scenario, and a temporary folder.
#include "run/plan.h"

#include <string>
#include <vector>

namespace racelab::run::test {

class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return m_path; }
  std::string operator/(const std::string& name) const { return m_path + "/" + name; }

private:
  std::string m_path;
};

void put(const std::string& file, const std::string& text);

// compiled_call and dynamo.compile (regions), fx.trace (scope), compile_lock (lock).
const schedule::Catalogue& builtin();

// A point `queue.put`, a lock `queue_lock`, tokens, and one of every axis, in the folder /s.
scenario::Scenario small_scenario();

schedule::Interleaving ordered(const std::vector<std::string>& events);

} // namespace racelab::run::test

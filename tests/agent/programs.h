#pragma once
// Small native programs that use the agent. An agent looks for its board once per process, so that every case needs
// one.
#include <string>

namespace racelab::agent_test {

// Returns the exit status: 0 unless the program says otherwise, 1 with a text on stderr where something is wrong.
int run_program(const std::string& name);

} // namespace racelab::agent_test

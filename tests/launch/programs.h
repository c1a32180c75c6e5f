#pragma once
// Native programs that use the agent, for trials that need actors.
#include <string>

namespace racelab::launch::test {

int run_program(const std::string& name);

} // namespace racelab::launch::test

// The tests, or, run again with "--program NAME", a small program that uses the agent.
#include "programs.h"

#include <cstring>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--program") == 0)
    return racelab::agent_test::run_program(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

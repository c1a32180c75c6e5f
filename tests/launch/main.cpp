// The tests; or the supervisor that FreshStarter makes of the running program; or one of programs.cpp.
#include "launch/supervise.h"
#include "programs.h"

#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--supervise") == 0)
    return racelab::launch::supervise_main(argc, argv);
  if (argc > 2 && std::strcmp(argv[1], "--program") == 0)
    return racelab::launch::test::run_program(argv[2]);
  signal(SIGPIPE, SIG_IGN); // as racelab has it
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

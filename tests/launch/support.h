#pragma once
// Trials of small programs in a folder of their own.
#include "../support/folder.h"
#include "launch/trial.h"

#include <chrono>
#include <string>
#include <vector>

#include <sched.h>

namespace racelab::launch::test {

using racelab::test::Folder;

// The whole file; empty if it cannot be read.
std::string contents(const std::string& file);
// The first number in the file, 0 if there is none yet.
int number_in(const std::string& file);

// Waits for a condition that another process brings about; false if that takes half a minute.
template <class Condition> bool await(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    sched_yield();
  }
  return true;
}

// Neither running nor waiting to be reaped.
bool is_gone(int pid);

// A trial of `argv` in the folder, with files there and limits that nothing normal reaches.
TrialSpec spec_of(const Folder& folder, std::vector<std::string> argv);
// Of a script for /bin/sh.
TrialSpec shell(const Folder& folder, const std::string& script);
// Of a program of programs.h.
TrialSpec program(const Folder& folder, const std::string& name);

// Runs it with a FreshStarter, on the board if there is one.
TrialEnd run(const TrialSpec& spec);
TrialEnd run(const TrialSpec& spec, board::Board& board);

} // namespace racelab::launch::test

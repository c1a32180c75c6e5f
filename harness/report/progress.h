#pragma once
// What is going on while a run is going on. Reporters write to the stream and read the clock that they are given, and
// are called from one thread.
#include "result/result.h"

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace racelab::report {

// How a trial ended, as far as progress is concerned.
struct TrialDone {
  std::string cell; // CellResult::id
  int index = 0;    // from 1
  int of = 0;       // trials of that cell in all; its last one to end completes the cell
  result::ScheduleStatus status = result::ScheduleStatus::free;
  std::vector<std::string> faults; // kinds
};

TrialDone trial_done_of(const std::string& cell, int of, const result::TrialResult& trial);

class ProgressReporter {
public:
  virtual ~ProgressReporter() = default;

  virtual void begin(int total_trials) = 0;
  virtual void note(const std::string& text) = 0; // a line that stays: "filling the warm cache"
  virtual void trial_started(const std::string& cell, int index) = 0;
  virtual void trial_done(const TrialDone& trial) = 0;
  virtual void
  end() = 0; // leaves the cursor at the start of an empty line; called by the destructor if nobody else did
};

enum class ProgressKind {
  bar,   // one status line that is written over; on a dumb terminal the same as plain
  plain, // a line per finished cell, and one every k_plain_interval without
  none,  // nothing at all, notes included
};

constexpr std::chrono::seconds k_plain_interval{10};

struct ProgressOptions {
  std::ostream* out = nullptr;
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<int()> width = [] { return 80; }; // asked each time: windows change
  bool dumb_terminal = false;                     // TERM=dumb: no escape sequences, no carriage return
};

// Requires options.out unless kind is none.
std::unique_ptr<ProgressReporter> make_progress(ProgressKind kind, ProgressOptions options);

} // namespace racelab::report

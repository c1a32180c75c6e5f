#pragma once
// What it takes to run one trial's process, and how it ended. The trial's order is on its board (harness/board).
#include "base/powers.h"
#include "board/board.h"
#include "launch/token_lines.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace racelab::launch {

constexpr int k_stack_signal = 62; // asks a process for its Python stacks; racelab_agent/start.py installs the handler

using Environment = std::vector<std::pair<std::string, std::string>>;

struct TrialSpec {
  std::vector<std::string> argv; // absolute program first
  bool python = false;           // argv[0] is a Python interpreter: the fork server may run it
  Environment environment;       // the whole environment, without RACELAB_BOARD
  int copies = 1;                // that many processes of argv at once; all but the first have RACELAB_COPY=2, 3, …
  base::Confinement confinement;
  std::string directory; // working directory
  std::string stdout_file, stderr_file, stacks_file;
  std::string
      scratch; // racelab's temporary folder, with a file "lock" that racelab holds: removed if racelab is killed
  std::chrono::milliseconds time_limit{120'000};
  std::chrono::milliseconds quiet_time{300}; // nothing moves this long: a schedule that holds somebody is given up
  std::chrono::milliseconds hang_time{3000}; // nothing moves this long, and nobody is held: the trial hangs
  std::size_t output_limit = std::size_t{4} << 20U; // bytes kept of each of stdout and stderr
  std::optional<TokenPattern> tokens;               // lines of the output that report tokens
  std::optional<TokenPattern> results;              // lines of the output that hold results
};

enum class EndKind { exited, signalled, time_limit, deadlock, hang, interrupted, not_started };

struct TrialEnd {
  EndKind kind = EndKind::exited;
  int exit_code = 0, signal = 0;
  std::string message;
  double user_s = 0, system_s = 0, wall_s = 0;
  std::int64_t max_rss_bytes = 0;
  int left_over = 0;
  std::string stalled_because; // the schedule was given up because nothing moved: what the threads were doing
  std::string stderr_tail;     // the last bytes of stderr
  std::int64_t start_ns = 0;   // CLOCK_MONOTONIC
  std::vector<TokenLine> token_lines, result_lines; // of stdout, then of stderr
};

// Starts processes. One implementation forks them from a prepared interpreter, one starts each anew, one of tests
// starts nothing at all.
class ProcessStarter {
public:
  virtual ~ProcessStarter() = default;

  // Starts the trial's process with stdout and stderr on the given descriptors and the board's descriptor inherited.
  // Returns the channel that reports on it: JSON objects {"pid": n}, then {"exit": wait status, "left_over": n,
  // "rusage": {...}}, or
  // {"error": text}. The caller does not own the channel. Throws base::UserError if it cannot even be asked.
  virtual int start(const TrialSpec& spec, const board::Board& board, int out, int err) = 0;

  // The process that takes in what the trial's process makes and leaves to itself (daemons); 0: there is none.
  virtual int reaper() const { return 0; }

  // The trial has been reported ended, or given up: make ready for the next one.
  virtual void finish() = 0;
};

// Runs one trial to its end: starts it, copies its output, watches it (crash, deadlock, hang, time limit, Ctrl-C), and
// ends its actors on the board. Never throws for what the trial does.
TrialEnd run_trial(ProcessStarter& starter, const TrialSpec& spec, board::Board& board);

} // namespace racelab::launch

// Watches one trial from its start to its end; see trial.h.
#include "launch/trial.h"

#include "base/files.h"
#include "launch/autograd_wait.h"
#include "launch/channel.h"
#include "launch/interrupt.h"
#include "launch/output.h"
#include "launch/stillness.h"

#include "board/clock.h"

#include <algorithm>
#include <csignal>
#include <set>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace racelab::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_end_grace{10'000};
constexpr milliseconds k_engine_quiet{2'000}; // nothing moves this long before stacks are asked for

struct Pipe {
  base::UniqueFd read, write;
};

Pipe make_pipe() {
  int fds[2] = {-1, -1};
  if (pipe2(fds, O_CLOEXEC) != 0) {
    return {};
  }
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

off_t size_of(const std::string& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 ? info.st_size : 0;
}

// Until the file has grown and grows no more; at most 2 s (a native program has no handler and writes nothing).
void wait_until_written(const std::string& file, off_t before) {
  off_t last = before;
  for (int i = 0; i < 40; ++i) {
    poll(nullptr, 0, 50);
    const off_t size = size_of(file);
    if (size > before && size == last) {
      return;
    }
    last = size;
  }
}

// One trial under way.
class Watch {
public:
  Watch(ProcessStarter& starter, const TrialSpec& spec, board::Board& board)
      : m_starter(starter), m_spec(spec), m_board(board), m_out(spec.stdout_file, spec.output_limit),
        m_err(spec.stderr_file, spec.output_limit), m_stillness(spec.quiet_time) {
    if (spec.tokens) {
      m_tokens = {TokenLines(*spec.tokens), TokenLines(*spec.tokens)};
    }
    if (spec.results) {
      m_results = {TokenLines(*spec.results), TokenLines(*spec.results)};
    }
  }

  TrialEnd run();

private:
  bool start();
  void loop();
  void read_output();
  void handle_message();
  void look();
  void handle_stillness(const TreeView& view);
  void end_by_force(EndKind kind, const std::string& message);
  void kill_trial();
  void dump_stacks();
  void end_actors();

  ProcessStarter& m_starter;
  const TrialSpec& m_spec;
  board::Board& m_board;
  Pipe m_out_pipe = make_pipe(), m_err_pipe = make_pipe();
  BoundedOutput m_out, m_err;
  std::vector<TokenLines> m_tokens, m_results; // of stdout and of stderr; empty where nobody asks
  Stillness m_stillness;
  int m_channel = -1;
  int m_pid = 0;
  bool m_ended = false;
  bool m_forced = false;
  bool m_engine_asked = false; // the stacks have been looked at for a wait in the autograd engine
  Clock::time_point m_started, m_force_time;
  TrialEnd m_end;
};

TrialEnd Watch::run() {
  m_started = Clock::now();
  m_end.start_ns = board::now_ns();
  if (start()) {
    loop();
  }
  m_end.wall_s = std::chrono::duration<double>(Clock::now() - m_started).count();
  read_output();
  m_out.finish();
  m_err.finish();
  m_end.stderr_tail = m_err.tail(2000);
  for (const TokenLines& tokens : m_tokens) {
    m_end.token_lines.insert(m_end.token_lines.end(), tokens.lines().begin(), tokens.lines().end());
  }
  for (const TokenLines& results : m_results) {
    m_end.result_lines.insert(m_end.result_lines.end(), results.lines().begin(), results.lines().end());
  }
  end_actors();
  m_starter.finish();
  return m_end;
}

bool Watch::start() {
  if (!m_out_pipe.read || !m_err_pipe.read) {
    m_end.kind = EndKind::not_started;
    m_end.message = "no pipe for the pipeline's output (too many open files?)";
    return false;
  }
  m_channel = m_starter.start(m_spec, m_board, m_out_pipe.write.get(), m_err_pipe.write.get());
  m_out_pipe.write.reset();
  m_err_pipe.write.reset();
  return true;
}

void Watch::read_output() {
  struct Stream {
    base::UniqueFd& fd;
    BoundedOutput& output;
    std::size_t number;
  };
  for (Stream stream : {Stream{m_out_pipe.read, m_out, 0}, Stream{m_err_pipe.read, m_err, 1}}) {
    char buffer[1 << 16];
    for (int i = 0; stream.fd && i < 64; ++i) { // bounded, so that a program that prints without end is still watched
      const ssize_t n = read(stream.fd.get(), buffer, sizeof buffer);
      if (n > 0) {
        stream.output.append(buffer, static_cast<std::size_t>(n));
        for (auto* lines : {&m_tokens, &m_results}) {
          if (!lines->empty()) {
            (*lines)[stream.number].append(buffer, static_cast<std::size_t>(n), board::now_ns());
          }
        }
      } else {
        if (n == 0) {
          stream.fd.reset();
        }
        break;
      }
    }
  }
}

void Watch::loop() {
  while (!m_ended) {
    pollfd fds[3] = {{m_channel, POLLIN, 0}, {m_out_pipe.read.get(), POLLIN, 0}, {m_err_pipe.read.get(), POLLIN, 0}};
    poll(fds, 3, static_cast<int>(m_stillness.interval().count()));
    read_output();
    if (fds[0].revents != 0) {
      handle_message();
    }
    if (!m_ended) {
      look();
    }
  }
}

void Watch::handle_message() {
  const auto message = receive_message(m_channel);
  if (!message) {
    m_ended = true;
    if (!m_forced) {
      m_end.kind = EndKind::not_started;
      m_end.message = "the process that runs trials ended unexpectedly (killed?)";
    }
    kill_trial();
    return;
  }
  if (message->contains("pid")) {
    m_pid = message->at("pid").get<int>();
    if (m_forced) { // ended before it had begun
      kill_trial();
    }
  } else if (message->contains("error")) {
    m_ended = true;
    m_end.kind = EndKind::not_started;
    m_end.message = message->at("error").get<std::string>();
  } else if (message->contains("exit")) {
    m_ended = true;
    const int status = message->at("exit").get<int>();
    m_end.left_over = message->value("left_over", 0);
    const Json usage = message->value("rusage", Json::object());
    m_end.user_s = usage.value("user_s", 0.0);
    m_end.system_s = usage.value("system_s", 0.0);
    m_end.max_rss_bytes = usage.value("max_rss_bytes", std::int64_t{0});
    if (!m_forced) {
      m_end.kind = WIFSIGNALED(status) ? EndKind::signalled : EndKind::exited;
      m_end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      m_end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    }
  }
}

void Watch::look() {
  if (m_forced) {
    if (Clock::now() - m_force_time > k_end_grace) {
      m_ended = true; // the process cannot be killed (uninterruptible I/O); leave it to the starter's own end
    }
    return;
  }
  if (interrupts() > 0) {
    end_by_force(EndKind::interrupted, "interrupted by the user");
  } else if (Clock::now() - m_started > m_spec.time_limit) {
    if (m_pid > 0) {
      dump_stacks();
    }
    end_by_force(EndKind::time_limit, "still running at the time limit");
  } else if (m_pid > 0) {
    const auto view = m_stillness.look(m_pid, m_board.log_count(), m_out.total() + m_err.total(), m_starter.reaper());
    if (view) {
      handle_stillness(*view);
    }
  }
}

void Watch::handle_stillness(const TreeView& view) {
  const board::Board::Picture picture = m_board.picture();
  // The chain of a cycle that a time-out has dissolved is still on the board: everybody must be waiting as it says.
  const bool lock_cycle = !picture.chain.empty() && picture.state != board::ScheduleState::impossible &&
                          std::all_of(picture.chain.begin(), picture.chain.end(), [&](const board::WaitEdge& w) {
                            const auto& actor = picture.actors[w.actor];
                            return actor.state == board::ActorState::wanting && w.lock >= 0 && actor.lock == w.lock &&
                                   picture.locks[w.lock].holder == w.other;
                          });
  const bool anybody_parked = std::any_of(picture.actors.begin(), picture.actors.end(),
                                          [](const auto& a) { return a.state == board::ActorState::parked; });
  if (lock_cycle) {
    dump_stacks();
    end_by_force(EndKind::deadlock, "known locks wait for each other in a cycle");
  } else if (anybody_parked && picture.state == board::ScheduleState::open) {
    m_end.stalled_because = describe_stillness(view, picture, m_board);
    m_board.give_up(board::ScheduleState::stalled);
    m_stillness.restart();
  } else if (!m_engine_asked && m_stillness.still_for() >= k_engine_quiet && engine_wants_lock(picture)) {
    m_engine_asked = true;
    dump_stacks();
    if (const auto why = explain_engine_wait(picture, base::read_file(m_spec.stacks_file).value_or(""))) {
      end_by_force(EndKind::deadlock, *why);
    }
  } else if (m_stillness.still_for() >= (view.any_timed_wait() ? 10 * m_spec.hang_time : m_spec.hang_time)) {
    dump_stacks();
    end_by_force(EndKind::hang,
                 "no thread did anything for " + std::to_string(m_stillness.still_for().count()) + " ms");
  }
}

void Watch::end_by_force(EndKind kind, const std::string& message) {
  m_end.kind = kind;
  m_end.message = message;
  m_forced = true;
  m_force_time = Clock::now();
  kill_trial();
}

void Watch::kill_trial() {
  if (m_pid > 0) {
    kill(-m_pid, SIGKILL);
    kill(m_pid, SIGKILL);
  }
}

// Asks the processes that take part in the trial for their Python stacks, one after another, since all write to the
// same file. An idle worker that has passed no point is not asked: Inductor has one for each core.
void Watch::dump_stacks() {
  const auto actors = m_board.picture().actors;
  std::set<int> pids{m_pid};
  for (const board::LogEntry& entry : m_board.log_from(0)) {
    if (entry.actor >= 0 && (entry.kind == board::LogKind::pass || entry.kind == board::LogKind::parked)) {
      const auto& actor = actors[static_cast<std::size_t>(entry.actor)];
      if (actor.pid > 0 && actor.state != board::ActorState::ended) {
        pids.insert(actor.pid);
      }
    }
  }
  for (const int pid : pids) {
    const off_t before = size_of(m_spec.stacks_file);
    if (kill(pid, k_stack_signal) == 0) {
      wait_until_written(m_spec.stacks_file, before);
    }
  }
}

void Watch::end_actors() {
  std::set<int> pids;
  for (const auto& actor : m_board.picture().actors) {
    if (actor.pid > 0) {
      pids.insert(actor.pid);
    }
  }
  for (const int pid : pids) {
    m_board.end_process(pid);
  }
}

} // namespace

TrialEnd run_trial(ProcessStarter& starter, const TrialSpec& spec, board::Board& board) {
  return Watch(starter, spec, board).run();
}

} // namespace racelab::launch

#pragma once
// The two ways to start a trial's process (docs: "launch" in docs/scenarios.md).
#include "base/files.h"
#include "launch/trial.h"

#include <memory>
#include <string>

#include <sys/types.h>

namespace racelab::launch {

// Starts each trial anew, under a supervisor process (supervise.h).
class FreshStarter : public ProcessStarter {
public:
  int start(const TrialSpec& spec, const board::Board& board, int out, int err) override;
  int reaper() const override { return m_supervisor; }
  void finish() override;
  ~FreshStarter() override { finish(); }

private:
  pid_t m_supervisor = 0;
  base::UniqueFd m_channel;
};

// Keeps one prepared Python process and lets it fork a child per trial. The server is started by the first trial, and
// again when it has died.
class ForkServer : public ProcessStarter {
public:
  // `python`: the interpreter; `environment`: what it and the modules that it imports see, including PYTHONPATH with
  // the agent's folder; `log_file`: its own stderr; `scratch`: see TrialSpec.
  ForkServer(std::string python, Environment environment, std::string log_file, std::string scratch)
      : m_python(std::move(python)), m_environment(std::move(environment)), m_log_file(std::move(log_file)),
        m_scratch(std::move(scratch)) {}
  ~ForkServer() override;

  // Starts the server if it does not run and waits until it is ready. Throws base::UserError (environment) if it fails.
  // Returns the seconds that took, 0 if it ran already.
  double ensure_started();

  int start(const TrialSpec& spec, const board::Board& board, int out, int err) override;
  int reaper() const override { return m_pid; }
  void finish() override;

private:
  void stop();

  std::string m_python;
  Environment m_environment;
  std::string m_log_file, m_scratch;
  pid_t m_pid = 0;
  base::UniqueFd m_channel;
};

} // namespace racelab::launch

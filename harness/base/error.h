#pragma once
// How failures reach the user. Low layers return tl::expected<T, std::string>; above them one exception type carries
// "tell the user this and end with that exit code". Everything else is an assertion.
#include <stdexcept>
#include <string>
#include <vector>

namespace racelab::base {

// Exit codes of every verb (docs: `racelab help exit-codes`).
enum class ExitCode : int {
  ok = 0,
  expectation_failed = 1,
  usage = 2,
  internal = 3,
  gate_regression = 4,
  nothing_ran = 5,
  replay_diverged = 6,
  inconclusive = 7,
  environment = 8,
  interrupted = 130,
};

// A place in a file; line and column count from 1, and 0 means "the file as a whole".
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const SourcePlace&) const = default;
};

// "file:line:col", shortened where line or column are unknown.
std::string to_string(const SourcePlace& place);

// One thing wrong with an input file: where, what was meant, what to do.
struct Diagnostic {
  SourcePlace place;
  std::string message;
};

// "file:line:col: message".
std::string to_string(const Diagnostic& diagnostic);

// A failure that the user can understand and act on. what() is the complete text, without "racelab:" before it.
class UserError : public std::runtime_error {
public:
  UserError(ExitCode code, const std::string& message) : std::runtime_error(message), m_code(code) {}

  // Several diagnostics of one file, a line each; the exit code is ExitCode::usage.
  explicit UserError(const std::vector<Diagnostic>& diagnostics);

  ExitCode code() const { return m_code; }
  // Every line of what() begins with the place in a file.
  bool is_about_a_file() const { return m_about_a_file; }

private:
  ExitCode m_code;
  bool m_about_a_file = false;
};

} // namespace racelab::base

#include "base/error.h"

namespace racelab::base {

namespace {

std::string lines_of(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty())
      text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

} // namespace

std::string to_string(const SourcePlace& place) {
  std::string text = place.file;
  if (place.line > 0) {
    text += ":" + std::to_string(place.line);
    if (place.column > 0)
      text += ":" + std::to_string(place.column);
  }
  return text;
}

std::string to_string(const Diagnostic& diagnostic) {
  const std::string place = to_string(diagnostic.place);
  return place.empty() ? diagnostic.message : place + ": " + diagnostic.message;
}

UserError::UserError(const std::vector<Diagnostic>& diagnostics) : UserError(ExitCode::usage, lines_of(diagnostics)) {
  m_about_a_file = true;
}

} // namespace racelab::base

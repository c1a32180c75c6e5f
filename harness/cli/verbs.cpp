#include "cli/verbs.h"

#include "base/error.h"
#include "base/text.h"
#include "racelab_version.h"

#include <iostream>

namespace racelab::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all{
      {"run", "run a scenario and say what holds", run_verb},
      {"check", "validate a scenario; touches nothing", check_verb},
      {"explain", "what a scenario will do on this machine", explain_verb},
      {"list", "scenarios, cells, points, faults, toolkits, runs", list_verb},
      {"report", "render the result of a run again", report_verb},
      {"cache", "what is in a compile cache, by whom it was written, what is damaged; copies", cache_verb},
      {"doctor", "what a toolkit and this machine are, and which known races they have", doctor_verb},
      {"schema", "the JSON Schema of scenario files", schema_verb},
      {"help", "this text; help exit-codes", help_verb},
  };
  return all;
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    help_verb({});
    return words.empty() ? static_cast<int>(base::ExitCode::usage) : 0;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    std::cout << "racelab " << RACELAB_VERSION << " (" << RACELAB_GIT_REVISION << ")\n";
    return 0;
  }
  return run_named(verbs(), words, "there is no verb '" + words[0] + "'", "racelab help");
}

int run_named(const std::vector<Verb>& among, const std::vector<std::string>& words, const std::string& missing,
              const std::string& remedy) {
  std::vector<std::string> names;
  for (const Verb& verb : among) {
    if (words[0] == verb.name) {
      return verb.run({words.begin() + 1, words.end()});
    }
    names.emplace_back(verb.name);
  }
  throw base::UserError(base::ExitCode::usage, missing + base::did_you_mean(words[0], names) + " (" + remedy + ")");
}

} // namespace racelab::cli

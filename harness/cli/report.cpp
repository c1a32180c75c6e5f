// racelab report
#include "cli/common.h"
#include "cli/options.h"
#include "cli/verbs.h"

#include "base/error.h"
#include "report/junit.h"
#include "report/markdown.h"
#include "report/terminal.h"
#include "result/read_run.h"

#include <filesystem>
#include <iostream>

namespace racelab::cli {

int report_verb(const std::vector<std::string>& arguments) {
  std::string where, format = "text", color = "auto";
  Options options("report RUN [options]", "Renders the result of a run again.",
                  "Example: racelab report reports/runs/20261129-200000-cold_cache_3drafters --format markdown");
  options.positional("RUN", where, "A run's folder, or its result.json");
  options.choice("--format", format, {"text", "markdown", "junit", "json"}, "What to print");
  options.choice("--color", color, {"auto", "always", "never"}, "Colours");
  if (!options.parse(arguments)) {
    return 0;
  }
  const std::string file = std::filesystem::is_directory(where) ? where + "/result.json" : where;
  const auto read = result::read_run(file);
  if (!read) {
    throw base::UserError(base::ExitCode::usage, read.error());
  }
  const result::RunResult& run = *read;
  if (format == "text") {
    std::cout << report::render_terminal(run, style_for(1, color));
  } else if (format == "markdown") {
    std::cout << report::render_markdown(run);
  } else if (format == "junit") {
    std::cout << report::render_junit(run);
  } else {
    std::cout << result::to_json(run).dump(1) << "\n";
  }
  return 0;
}

} // namespace racelab::cli

#pragma once
// What several verbs need: the catalogue, scenario files, where text goes.
#include "report/display.h"
#include "result/result.h"
#include "scenario/parse.h"
#include "schedule/catalogue.h"

#include <string>
#include <vector>

namespace racelab::cli {

// The catalogue of the agent that belongs to this program. Throws base::UserError (internal).
schedule::Catalogue load_catalogue();

// The names that scenarios may use: the catalogue's, the oracles', the probe's.
scenario::Vocabulary vocabulary_of(const schedule::Catalogue& catalogue);

// Reads and checks a scenario file; `sets` are the values of --set. Throws base::UserError with every error of the
// file. A name without '/' that is no file is looked for among the scenarios that ship.
scenario::Scenario load_scenario(const std::string& file, const std::vector<std::string>& sets,
                                 const schedule::Catalogue& catalogue);

// Folders in which scenarios that ship are looked for.
std::vector<std::string> scenario_folders();

// How to draw on a stream: colours by `--color`, NO_COLOR and whether it is a terminal; its width.
report::Style style_for(int fd, const std::string& color);

// Writes to FILE, or to stdout for "-". Throws base::UserError (environment).
void write_output(const std::string& file, const std::string& text);

} // namespace racelab::cli

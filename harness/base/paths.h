#pragma once
// Where racelab's own files are, in a build tree and installed.
#include <string>

namespace racelab::base {

// The folder of the running program.
std::string program_folder();

// The agent's folder (libracelab_agent.so, the Python package): $RACELAB_AGENT_DIR, ../agent or ../lib/racelab/agent of
// the program. Throws UserError (internal) naming what was tried.
std::string agent_folder();

// $XDG_CACHE_HOME/racelab or ~/.cache/racelab; not made.
std::string cache_home();

// A folder `name` of the cache folder, made if need be; where that cannot be (a read-only home), the same below
// `fallback`.
std::string cache_folder_or(const std::string& name, const std::string& fallback);

// Where a new temporary folder may be made: $TMPDIR or /tmp.
std::string temporary_root();

} // namespace racelab::base

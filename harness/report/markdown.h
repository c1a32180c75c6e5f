#pragma once
// The result as Markdown that fits into an issue: what it ran on, a table of cells, the faults with their schedules,
// and the commands that show them again. Text that a pipeline chose stands in code only, so that it cannot mark up or
// mention anybody.
#include "result/result.h"

#include <string>

namespace racelab::report {

std::string render_markdown(const result::RunResult& run);

} // namespace racelab::report

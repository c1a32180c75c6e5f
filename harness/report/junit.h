#pragma once
// The result as JUnit XML, as CI systems read it: a test suite per scenario, a test case per cell. An expectation that
// failed, a fault that is gone and an unexpected flaky one are failures; a cell whose order was not realised is an
// error, since it says nothing about the program.
#include "result/result.h"

#include <string>

namespace racelab::report {

std::string render_junit(const result::RunResult& run);

} // namespace racelab::report

#pragma once
// A vocabulary and scenarios for the tests of this folder.
#include "scenario/parse.h"

#include <string>
#include <vector>

namespace racelab::scenario::test {

const Vocabulary& vocabulary();

// A scenario that uses every key.
extern const char* const k_complete;

// The shortest head of a scenario, four lines; what a test adds starts on line 5.
extern const char* const k_head;

// Parses as file "t.yaml" in the folder /s. A failure to parse fails the test.
Scenario parse(const std::string& text, const std::vector<Override>& overrides = {});

// The diagnostics of a wrong scenario, as text; empty if it is right.
std::vector<std::string> errors_of(const std::string& text, const std::vector<Override>& overrides = {});

} // namespace racelab::scenario::test

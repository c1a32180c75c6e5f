#pragma once
// The malformed scenarios of malformed/*.cases, which the parser's test and the program's test share.
//
//     # a comment
//     TITLE | LINE:COLUMN | what the message says
//         text that follows the head of a scenario (fixture.h), from line 5 on
//
//     file TITLE | LINE:COLUMN | ...
//         the whole file
//
// The text is indented by four blanks. In it \xNN stands for that byte, \(N:TEXT) for N times TEXT, and \. at the end
// of a line for no end of the line.
#include <iosfwd>
#include <string>
#include <vector>

namespace racelab::scenario::test {

struct MalformedCase {
  std::string title; // "yaml_open_brace": the name of the file before it
  std::string text;  // the whole scenario
  std::string place; // "5:9"
  std::string message;
};

std::vector<MalformedCase> malformed_cases();
void PrintTo(const MalformedCase& malformed, std::ostream* stream); // its title, in the names of tests

} // namespace racelab::scenario::test

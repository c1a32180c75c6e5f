#pragma once
// What a text of a scenario may look like: one row per format, used by the check, by the messages and by the JSON
// Schema.
#include <string_view>

namespace racelab::scenario {

// Longest name; an event name adds ".released" and must still fit the board's names.
constexpr std::size_t k_max_name = 80;

// Longest regular expression: std::regex recurses for each of its characters.
constexpr std::size_t k_max_regex = 1000;

enum class Format {
  text,             // anything but blanks
  any,              // anything, also nothing
  name,             // part of a cell id, hence of a path
  point_name,       // "queue.put"
  environment_name, // "CUDA_VISIBLE_DEVICES"
  dotted_path,      // "torch._dynamo.config.verbose"
  attribute,        // "mypkg.queue:HiddenStateQueue.put"
  line_place,       // "train.py:120"
  actor_name,       // "drafter{n}"
  value_path,       // "0.tokens"
  bytes,            // "64KiB"
  regex,            // an ECMAScript regular expression of at most k_max_regex bytes
  event,            // "drafter0 fx.trace.enter#2"; taken apart in read.cpp
  order,            // "EVENT < EVENT"; taken apart in read.cpp
};

struct FormatRule {
  const char* pattern; // ECMAScript regular expression for the schema; accepts what `accepts` does
  const char* meaning; // for people: "must be ..."
  bool (*accepts)(std::string_view text);
};

const FormatRule& rule_of(Format format);

} // namespace racelab::scenario

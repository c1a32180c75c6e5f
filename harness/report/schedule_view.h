#pragma once
// A schedule as people draw one: time runs down, each actor has a column.
//
//     #   drafter0                    drafter1                        drafter2
//     1   fx.trace.enter
//     2                               compiled_call.enter
//     3                               RuntimeError: Detected that you are using FX …
//     4   fx.trace.exit
//
// It is bounded: of a long schedule it shows the rows around the faults and around the events that the interleaving
// lists, and says how many it leaves out; of many actors those that take part.
#include "report/display.h"
#include "result/result.h"

#include <span>
#include <string>

namespace racelab::report {

constexpr int k_max_schedule_rows = 30; // including the lines that stand for what is left out

// Passes of `events` with each fault in the row after its event (Fault::event is compared with Event::index, or with
// the place in `events` where that is not set). Faults without an event stand at the end. Each line is indented by four
// and ends in a newline; empty if there is nothing to show.
std::string render_schedule(std::span<const result::Event> events, std::span<const result::Fault> faults, Style style);

} // namespace racelab::report

#pragma once
// The report of a run as a person reads it in a terminal. Each part ends in a newline and is empty where there is
// nothing to say; printed in the order below they are the whole report. No line but a command or a file's name is wider
// than the style allows, and nothing that a pipeline printed reaches the terminal unescaped.
#include "report/display.h"
#include "result/result.h"

#include <string>

namespace racelab::report {

// Toolkits, layouts, and RunResult::notes, each with a label before it. A note of the form "cache: text" has the label
// "cache".
std::string render_header(const result::RunResult& run, Style style);

// One row per cell: what became of its order, its faults, tokens/s of each actor and in all, and the verdict; under it
// the reasons of a verdict that needs some. Gives up columns per actor, and then one line per cell, where the width
// demands it.
std::string render_table(const result::RunResult& run, Style style);

// A block for the first unexpected fault of each cell and the first expected one of each kind; at most three.
std::string render_faults(const result::RunResult& run, Style style);

// Who entered Tracer.trace, how often and from where, by cache state. Keys of CellResult::tracer_entries that count 0
// are shown as what was looked for and not found ("create_block_mask: 0 of 12").
// What torch made of each cache that was damaged, foreign or shut; empty where no cell has such a cache.
std::string render_cache_outcomes(const result::RunResult& run, Style style);
std::string render_tracer_entries(const result::RunResult& run, Style style);

// "5 cells, 25 trials in 61 s · results DIR · exit 0 (everything expected held)".
std::string render_footer(const result::RunResult& run, Style style);

// All of the above.
std::string render_terminal(const result::RunResult& run, Style style);

} // namespace racelab::report

#pragma once
// Reads a finished trial's board and files into the record that oracles judge.
#include "board/board.h"
#include "launch/trial.h"
#include "result/record.h"

#include <string>

namespace racelab::run {

result::TrialRecord read_record(int index, const board::Board& board, const launch::TrialEnd& end,
                                const std::string& facts_file, const std::string& stacks_file);

// The lines of events.jsonl.
std::string events_text(const result::TrialRecord& record);

} // namespace racelab::run

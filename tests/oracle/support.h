#pragma once
// Trial records and interleavings in few words.
#include "oracle/oracle.h"

#include <string>
#include <vector>

namespace racelab::oracle::test {

constexpr std::int64_t k_second = 1'000'000'000;

// Events are "ACTOR POINT#n", as a plain list.
schedule::Interleaving in_order(const std::vector<std::string>& events);
schedule::Interleaving serialized(const std::vector<std::string>& regions);

// A pass at time 0, or at `time_ns`: "ACTOR POINT#n" of step `step`.
result::Event pass(const std::string& event, int step = -1, std::int64_t time_ns = 0);
result::Event event(result::EventKind kind, const std::string& actor, const std::string& point = {},
                    std::int64_t time_ns = 0);
result::Event tokens(const std::string& actor, std::int64_t count, std::int64_t time_ns);

// A trial of that interleaving whose actors appeared and ended, and none of whose steps is done.
result::TrialRecord trial_of(const schedule::Interleaving& interleaving, result::BoardState board);
// A trial without an interleaving, with an agent attached.
result::TrialRecord free_trial();

result::Json counters_fact(const std::string& group, const std::string& name, int value);

} // namespace racelab::oracle::test

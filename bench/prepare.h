#pragma once
#include <string>

namespace racelab::bench {

// 0: the prepared folder has as many files and bytes as the snapshot.
int prepare(const std::string& snapshot, const std::string& target);

} // namespace racelab::bench

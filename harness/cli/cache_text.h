#pragma once
// What `racelab cache` prints. Names in a cache, and what its files say, come from whoever wrote them: nothing of it
// reaches the terminal unescaped.
#include "cache/inspect.h"
#include "cache/kept.h"
#include "cache/writers.h"
#include "report/display.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::cli {

// A cache that was looked at, under the name that the user gave it.
struct LookedAt {
  std::string name;
  cache::Inspection inspection;
  cache::Writers writers;
  std::vector<std::string> manifest; // what is not as the snapshot's manifest has it
  std::string copy_of;               // of a snapshot: whose, and from when
};

std::string render_show(const LookedAt& cache, const report::Style& style);
// `all_files`: every file that differs, instead of the first few.
std::string render_diff(const LookedAt& before, const LookedAt& after, const cache::Difference& difference,
                        bool all_files, const report::Style& style);
std::string render_verify(const LookedAt& cache, const report::Style& style);
std::string render_list(const std::vector<cache::Kept>& all, const report::Style& style);

// "353 MB and 285 entries before, 19 MB and 62 entries after, written by …".
std::string summary_of(const LookedAt& before, const LookedAt& after);

bool is_whole(const LookedAt& cache);

nlohmann::ordered_json to_json(const LookedAt& cache);
nlohmann::ordered_json to_json(const LookedAt& before, const LookedAt& after, const cache::Difference& difference);

} // namespace racelab::cli

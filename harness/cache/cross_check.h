#pragma once
// What only several files of a cache together show.
#include "cache/inspect.h"

namespace racelab::cache {

// Adds damage to the files that have it, and remarks to the inspection: links and folders in the place of files,
// temporary files, entries that need what is not there or is another one, several payloads under a key.
void cross_check(Inspection& inspection);

} // namespace racelab::cache

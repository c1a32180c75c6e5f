// bench_cost --prepare SNAPSHOT TARGET: a warm state is made from the folder, as for a trial, and looked at.
#include "bench/prepare.h"

#include "cache/caches.h"

#include <cstdio>

namespace racelab::bench {

int prepare(const std::string& snapshot, const std::string& target) {
  cache::Sources sources;
  sources.own = cache::SnapshotStore::Snapshot{"bench", snapshot, cache::measure(snapshot), 0, "", "", {}};
  const scenario::CacheState warm{"warm", scenario::CacheKind::warm, {}};
  const cache::Prepared prepared(warm, sources, target);
  const cache::TreeSize size = cache::measure(target);
  std::printf("%lld files, %lld bytes\n", static_cast<long long>(size.files), static_cast<long long>(size.bytes));
  return size.files == sources.own->size.files && size.bytes == sources.own->size.bytes ? 0 : 1;
}

} // namespace racelab::bench

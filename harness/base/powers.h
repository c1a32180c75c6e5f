#pragma once
// Giving up what file permissions do not bind: root, and whoever is in a user namespace of his own.
#include <cstdint>
#include <functional>

namespace racelab::base {

// What a process and all that it starts may not do, where no file system of their own can be mounted for them.
struct Confinement {
  bool without_file_powers = false;  // CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH are dropped for good
  std::uint64_t file_size_limit = 0; // bytes of any file (EFBIG beyond); 0: none
};

// Confines this process. 0, or the errno that says why it is not so.
int confine(const Confinement& confinement);

// The errno of `action` (0: it worked) in a process that is confined so. Runs in a fork.
int errno_when_confined(const Confinement& confinement, const std::function<int()>& action);

} // namespace racelab::base

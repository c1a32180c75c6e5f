#pragma once
// Cache folders that are really full or really read-only, for root too: small file systems in a mount namespace of
// racelab's own. They vanish with the last process of it, whatever kills racelab.
#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace racelab::cache {

// Moves this process, which must not have started threads or trials yet, into a mount namespace of its own (in a user
// namespace where it is not root). The error says why the system does not allow it. Safe to call again.
tl::expected<void, std::string> enter_private_mounts();

// A file system in memory with room for that many bytes, on the folder (made if need be).
tl::expected<void, std::string> mount_small(const std::string& folder, std::uint64_t bytes);

// The folder, read-only.
tl::expected<void, std::string> mount_read_only(const std::string& folder);

void unmount(const std::string& folder);

} // namespace racelab::cache

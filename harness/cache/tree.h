#pragma once
// Cache directories as trees of files: measuring and copying them.
#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace racelab::cache {

struct TreeSize {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};

// Files below the folder (0 if there is none); links and special files count as files of no size.
TreeSize measure(const std::string& folder);

// What it means when a file or folder is gone by the time it is to be copied: others may work in the original.
enum class Vanishing { is_failure, is_fine };

// Copies everything below `from` into the new folder `to`, sharing blocks where the file system can (FICLONE), with
// modes and times. The error names the file.
tl::expected<void, std::string> copy_tree(const std::string& from, const std::string& to,
                                          Vanishing vanishing = Vanishing::is_failure);

// Takes the permission to write from the folder and all in it.
void make_unwritable(const std::string& folder);

// Removes the folder and all in it, making read-only folders writable first.
void remove_tree(const std::string& folder);

} // namespace racelab::cache

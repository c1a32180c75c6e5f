#pragma once
// Trees of files in temporary folders.
#include "../support/folder.h"

#include <functional>
#include <string>
#include <vector>

namespace racelab::cache::test {

using racelab::test::Folder;

// Writes the file and makes the folders above it.
void put(const std::string& file, const std::string& text);
std::string contents(const std::string& file);
// Permission bits of what the path names itself, links not followed.
unsigned mode_of(const std::string& path);
// Names below the folder, with a '/' behind folders and '@' behind links, sorted.
std::vector<std::string> listing(const std::string& folder);

// Runs the part in a child process that permissions apply to (root becomes nobody there) and returns what it returns,
// at most 255.
int as_ordinary_user(const std::function<int()>& part);

} // namespace racelab::cache::test

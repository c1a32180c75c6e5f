#include "cases.h"

#include "base/assert.h"
#include "base/files.h"
#include "base/text.h"
#include "fixture.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

namespace racelab::scenario::test {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_indent = "    ";

// The text without its escapes (cases.h).
std::string unescaped(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    if (line == "\\.")
      return text;
    std::size_t length = 1;
    if (line.starts_with("\\x")) {
      text += static_cast<char>(std::stoi(std::string(line.substr(2, 2)), nullptr, 16));
      length = 4;
    } else if (line.starts_with("\\(")) {
      const std::size_t colon = line.find(':'), end = line.find(')', colon);
      RACELAB_ASSERT(colon != std::string_view::npos && end != std::string_view::npos);
      for (int n = std::stoi(std::string(line.substr(2, colon - 2))); n > 0; --n)
        text += line.substr(colon + 1, end - colon - 1);
      length = end + 1;
    } else {
      text += line.front();
    }
    line.remove_prefix(length);
  }
  return text + "\n";
}

// "TITLE | PLACE | MESSAGE".
MalformedCase begun(const std::string& group, std::string_view header) {
  constexpr std::string_view k_bar = " | ", k_file = "file ";
  const bool whole = header.starts_with(k_file);
  if (whole)
    header.remove_prefix(k_file.size());
  const std::size_t first = header.find(k_bar), second = header.find(k_bar, first + 1);
  RACELAB_ASSERT(first != std::string_view::npos && second != std::string_view::npos);
  MalformedCase made;
  made.title = group + "_" + std::string(header.substr(0, first));
  made.place = header.substr(first + k_bar.size(), second - first - k_bar.size());
  made.message = header.substr(second + k_bar.size());
  made.text = whole ? "" : k_head;
  return made;
}

void read_cases(const fs::path& file, std::vector<MalformedCase>& cases) {
  const auto text = base::read_file(file.string());
  RACELAB_ASSERT(text);
  for (const std::string& line : base::split(*text, '\n')) {
    if (line.starts_with(k_indent))
      cases.back().text += unescaped(std::string_view(line).substr(k_indent.size()));
    else if (!line.empty() && line.front() != '#')
      cases.push_back(begun(file.stem().string(), line));
  }
}

} // namespace

void PrintTo(const MalformedCase& malformed, std::ostream* stream) {
  *stream << malformed.title;
}

std::vector<MalformedCase> malformed_cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(RACELAB_SOURCE_DIR "/tests/scenario/malformed"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<MalformedCase> cases;
  for (const fs::path& file : files)
    read_cases(file, cases);
  return cases;
}

} // namespace racelab::scenario::test

#include "cache/relocate.h"

#include "base/files.h"
#include "cache/layers.h"

#include <filesystem>

namespace racelab::cache {

tl::expected<void, std::string> relocate_triton(const std::string& root, const std::string& filled_at) {
  if (filled_at.empty() || filled_at == root) {
    return {};
  }
  const std::string from = filled_at + "/triton/", to = root + "/triton/";
  for (const std::string& file : files_of(root, *find_layer("triton-json"))) {
    const std::string path = root + "/" + file;
    if (!std::filesystem::path(file).filename().string().starts_with("__grp__")) {
      continue;
    }
    auto text = base::read_file(path);
    if (!text) {
      return tl::unexpected(text.error());
    }
    const std::string before = *text;
    for (std::size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size())) {
      text->replace(at, from.size(), to);
    }
    if (*text != before) {
      if (auto written = base::write_file(path, *text); !written) {
        return written;
      }
    }
  }
  return {};
}

} // namespace racelab::cache

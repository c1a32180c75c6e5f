#include "cache/layers.h"

#include "base/text.h"

#include <algorithm>
#include <filesystem>

namespace racelab::cache {

namespace fs = std::filesystem;

const std::vector<Layer>& layers() {
  // torch/_inductor/codecache.py: code_cache_path, FxGraphCache; torch/_functorch/_aot_autograd/autograd_cache.py;
  // triton/runtime/cache.py.
  static const std::vector<Layer> all{
      {"inductor-code", {"inductor/*/*.py"}, false, "Inductor's generated Python: the code that calls the kernels"},
      {"inductor-source", {"inductor/*/*.cpp", "inductor/*/*.h"}, false, "sources of Inductor's CPU kernels"},
      {"inductor-library", {"inductor/*/*.so"}, false, "compiled CPU kernels of Inductor"},
      {"fx-graph", {"inductor/fxgraph/*/*/*"}, true, "Inductor's FX-graph cache: pickled compiled graphs"},
      {"aot", {"inductor/aotautograd/*/*"}, true, "AOTAutograd's cache: pickled forward and backward"},
      {"triton-json", {"triton/*/*.json"}, false, "metadata of Triton's kernels, and the groups that name their files"},
      {"triton-cubin", {"triton/*/*.cubin"}, false, "Triton's kernels as machine code"},
      {"triton-source",
       {"triton/*/*.ttir", "triton/*/*.ttgir", "triton/*/*.llir", "triton/*/*.ptx", "triton/*/*.source",
        "triton/*/*.so"},
       false,
       "what Triton's kernels were made from on the way, and its launchers"},
      {"cuda-jit", {"cuda/**"}, false, "the CUDA driver's cache of PTX that it compiled"},
      {"locks", {"inductor/locks/*"}, false, "Inductor's lock files"},
  };
  return all;
}

const Layer* find_layer(std::string_view name, const std::vector<Layer>& among) {
  const auto at = std::find_if(among.begin(), among.end(), [&](const Layer& layer) { return layer.name == name; });
  return at == among.end() ? nullptr : &*at;
}

bool path_matches(std::string_view pattern, std::string_view path) {
  const auto head = [](std::string_view text) { return text.substr(0, text.find('/')); };
  const auto rest = [](std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  };
  if (pattern.empty() || path.empty()) {
    return pattern.empty() && path.empty();
  }
  if (head(pattern) == "**") {
    return rest(pattern).empty() || path_matches(rest(pattern), path) || path_matches(pattern, rest(path));
  }
  return base::glob_match(head(pattern), head(path)) && path_matches(rest(pattern), rest(path));
}

namespace {
bool is_hidden(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with(".");
}
} // namespace

const Layer* layer_of(std::string_view path, const std::vector<Layer>& among) {
  if (is_hidden(path)) {
    return nullptr; // an unpublished temporary file
  }
  for (const Layer& layer : among) {
    for (const std::string& pattern : layer.patterns) {
      if (path_matches(pattern, path)) {
        return &layer;
      }
    }
  }
  return nullptr;
}

std::vector<std::string> files_of(const std::string& root, const Layer& layer, const std::vector<Layer>& among) {
  std::vector<std::string> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const std::string path = it->path().lexically_relative(root).string();
    if (it->symlink_status(ignored).type() == fs::file_type::regular && layer_of(path, among) == &layer) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

} // namespace racelab::cache

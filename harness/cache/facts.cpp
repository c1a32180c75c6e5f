#include "cache/facts.h"

#include "base/digest.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cache/elf.h"
#include "cache/pickle_walk.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace racelab::cache {

namespace {

// torch/_inductor/codecache.py: sha256_hash() is 51 letters of base32, and a key has a letter before them.
constexpr std::size_t k_digest_letters = 51;
constexpr std::size_t k_longest = 200; // of a value that is shown
constexpr std::size_t k_most_environments = 8;
constexpr int k_most_hits = 4096; // of a folder's name, in one file
constexpr std::size_t k_most_json = std::size_t{16} << 20U;

bool is_base32(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7'); });
}

bool is_key(std::string_view text, char first) {
  return text.size() == k_digest_letters + 1 && text[0] == first && is_base32(text.substr(1));
}

std::string digest_letters(std::string_view bytes) {
  return base::base32(base::sha256(bytes)).substr(0, k_digest_letters);
}

std::string_view name_of(std::string_view place) {
  return place.substr(place.rfind('/') + 1);
}

std::string_view folder_of(std::string_view place) { // its name only
  const std::size_t slash = place.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name_of(place.substr(0, slash));
}

std::string_view stem_of(std::string_view place) {
  const std::string_view name = name_of(place);
  return name.substr(0, name.find('.'));
}

// The text between `before` and the next `end`; empty where there is no such place.
std::string_view between(std::string_view text, std::string_view before, char end) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + before.size(), k_longest);
  return rest.substr(0, rest.find(end));
}

void set(std::string& value, std::string_view found) {
  if (value.empty() && !found.empty()) {
    value = std::string(base::trim(found).substr(0, k_longest));
  }
}

std::string python_of(std::string_view path) {
  const std::string_view version = between(path, "/python", '/');
  return version.size() >= 3 && version[1] == '.' && version.find_first_not_of("0123456789.") == std::string_view::npos
             ? std::string(version)
             : std::string();
}

// Folders named site-packages or dist-packages in whatever text there is.
void find_environments(std::string_view bytes, Told& told) {
  int left = k_most_hits;
  for (const std::string_view folder : {std::string_view("/site-packages/"), std::string_view("/dist-packages/")}) {
    for (std::size_t at = bytes.find(folder); at != std::string_view::npos && left > 0;
         at = bytes.find(folder, at + 1)) {
      --left;
      std::size_t from = at;
      const auto in_path = [](char c) { return c > ' ' && c <= '~' && std::strchr("\"'(),:;<>=|", c) == nullptr; };
      while (from > 0 && in_path(bytes[from - 1]) && at - from < 4096) {
        --from;
      }
      const std::string_view path = bytes.substr(from, at - from + folder.size() - 1);
      if (path[0] != '/' ||
          std::find(told.environments.begin(), told.environments.end(), path) != told.environments.end()) {
        continue;
      }
      told.environments.emplace_back(path);
      set(told.python, python_of(path));
      if (told.environments.size() == k_most_environments) {
        return;
      }
    }
  }
}

// The value of KEY in a Python dict as str() shows it.
std::string_view dict_value(std::string_view text, std::string_view key) {
  return between(text, fmt::format("'{}': '", key), '\'');
}

// torch/_inductor/codecache.py, FxGraphCachePickler.debug_lines: "[DIGEST] NAME: VALUE".
void read_debug_line(std::string_view line, Told& told) {
  const std::string_view digest = line.substr(1, k_digest_letters), rest = line.substr(k_digest_letters + 3);
  if (rest.starts_with("torch_version: ")) {
    set(told.sources, digest);
  } else if (rest.starts_with("system_info[device]: ")) {
    set(told.gpu, dict_value(rest, "name"));
  } else if (rest.starts_with("system_info[version]: ")) {
    // triton_key(): the version, and then digests of 64 letters joined by '-'.
    const std::string_view whole = dict_value(rest, "triton");
    const std::size_t first = whole.find('-');
    if (first != std::string_view::npos && first > 64) {
      set(told.triton, whole.substr(0, first - 64));
      set(told.triton_sources, base::digest(rest.substr(rest.find("'triton'"))).substr(0, 12));
    }
    set(told.torch_cuda, dict_value(rest, "cuda"));
  }
}

// The program that would repeat a graph's compilation, which an FX-graph entry has in it (torch/_dynamo/repro).
void read_repeat_program(std::string_view text, Told& told) {
  set(told.torch, between(text, "# torch version: ", '\n'));
  set(told.torch_cuda, between(text, "# torch cuda version: ", '\n'));
  set(told.torch_git, between(text, "# torch git version: ", '\n'));
  set(told.cuda_tools, between(text, "# Cuda compilation tools, release ", '\n'));
  set(told.written_at, between(text, "os.environ['TORCHINDUCTOR_CACHE_DIR'] = '", '\''));
}

// What the items of a torch cache's pickle say, read as they come by.
class PickleReader {
public:
  PickleReader(FileFacts& facts, std::size_t size) : m_facts(facts), m_left(k_most_repeats * size) {}

  void see(const PickleItem& item) {
    if (item.value.size() > m_left) {
      return; // a hostile one fetches a long text again and again
    }
    m_left -= item.value.size();
    if (item.is_text) {
      read_text(item.value);
    } else if (m_field == "payload" && !m_bundle_name.empty()) {
      m_facts.bundled.push_back({m_bundle_key, m_bundle_name, base::digest(item.value)});
    }
    m_field = item.is_text ? item.value : std::string_view();
  }

  const std::string& own_key() const { return m_own_key; }

private:
  // The name of a field comes before its value.
  void read_text(std::string_view text) {
    if (m_field == "cache_key" && m_facts.code.empty() && is_key(text, 'c')) {
      m_facts.code = text;
    } else if (m_field == "_fx_graph_cache_key") {
      m_own_key = text;
    } else if (m_field == "fx_graph_cache_info" && is_key(text, 'f')) {
      m_facts.graphs.emplace_back(text);
    } else if (m_field == "kernel_hash") {
      m_bundle_key = text;
    } else if (m_field == "filename") {
      m_bundle_name = text;
    }
    if (text.size() > k_digest_letters + 3 && text[0] == '[' && text[k_digest_letters + 1] == ']' &&
        is_base32(text.substr(1, k_digest_letters))) {
      read_debug_line(text, m_facts.told);
    } else if (text.starts_with("\nimport os\n")) {
      read_repeat_program(text, m_facts.told);
    }
  }

  static constexpr std::size_t k_most_repeats = 8; // as often as the whole file
  FileFacts& m_facts;
  std::size_t m_left; // bytes that are still looked at
  std::string_view m_field;
  std::string m_own_key, m_bundle_key, m_bundle_name;
};

void read_pickle(const std::string& place, const std::string& layer, std::string_view bytes, FileFacts& facts) {
  PickleReader reader(facts, bytes.size());
  const PickleWalk walk = walk_pickle(bytes, [&](const PickleItem& item) { reader.see(item); });
  const std::string_view key = folder_of(place);
  const char first = layer == "aot" ? 'a' : 'f';
  if (bytes.empty()) {
    facts.damage.emplace_back("empty");
  } else if (name_of(place) != digest_letters(bytes)) {
    facts.damage.push_back("its name is the digest of another content" +
                           (walk.error.empty() ? std::string(" (this one is a whole pickle)") : "; " + walk.error));
  } else if (!walk.error.empty()) {
    facts.damage.push_back(walk.error); // torch itself wrote no pickle
  }
  if (!is_key(key, first)) {
    facts.damage.push_back(fmt::format("'{}' is no key of this layer", key));
  } else if (!reader.own_key().empty() && reader.own_key() != key) {
    facts.damage.push_back("it belongs under the key " + reader.own_key());
  }
  facts.checked = Checked::exactly;
}

// Texts that compilers and torch write: UTF-8 without NUL, to the last newline.
void check_text(std::string_view bytes, FileFacts& facts) {
  facts.checked = Checked::by_form;
  if (bytes.empty()) {
    facts.damage.emplace_back("empty");
    return;
  }
  if (const std::size_t at = bytes.find('\0'); at != std::string_view::npos) {
    facts.damage.push_back(fmt::format("has a NUL at byte {}, which no text has", at));
  } else if (!base::is_utf8(bytes)) {
    facts.damage.emplace_back("is no text (UTF-8)");
  } else if (bytes.back() != '\n') {
    facts.damage.emplace_back("ends within a line");
  }
}

// Braces outside of texts and comments; C++ as Inductor generates it has no raw strings with quotes in them.
bool has_balanced_braces(std::string_view code) {
  int depth = 0;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '/' && i + 1 < code.size() && code[i + 1] == '/') {
      i = std::min(code.find('\n', i), code.size() - 1);
    } else if (c == '/' && i + 1 < code.size() && code[i + 1] == '*') {
      i = std::min(code.find("*/", i + 2), code.size() - 2) + 1;
    } else if (c == '"' || (c == '\'' && (i == 0 || std::isalnum(static_cast<unsigned char>(code[i - 1])) == 0))) {
      for (++i; i < code.size() && code[i] != c; ++i) {
        i += code[i] == '\\' ? 1 : 0;
      }
    } else if (c == '{' || c == '}') {
      depth += c == '{' ? 1 : -1;
    }
    if (depth < 0) {
      return false;
    }
  }
  return depth == 0;
}

void read_cpp(std::string_view bytes, FileFacts& facts) {
  check_text(bytes, facts);
  if (facts.damage.empty() && !has_balanced_braces(bytes)) {
    facts.damage.emplace_back("its braces do not match");
  }
}

// PyCodeCache.write: "c" and the digest of the code without blanks at its ends. The kernels that max-autotune tries out
// have more than their code in their names.
void read_python(const std::string& place, std::string_view bytes, FileFacts& facts) {
  const std::string_view stem = stem_of(place);
  if (!is_key(stem, 'c')) {
    check_text(bytes, facts);
    return;
  }
  if (stem.substr(1) == digest_letters(base::trim(bytes))) {
    facts.checked = Checked::exactly;
  } else if (bytes.find("@triton_heuristics.template(") != std::string_view::npos) {
    check_text(bytes, facts);
  } else {
    facts.checked = Checked::exactly;
    facts.damage.emplace_back(bytes.empty() ? "empty" : "its name is the digest of another content");
  }
}

void read_library(const std::string& place, std::string_view bytes, FileFacts& facts) {
  const Elf elf = read_elf(bytes);
  facts.checked = Checked::by_form;
  if (!elf.error.empty()) {
    facts.damage.push_back(elf.error);
  }
  const std::string_view stem = stem_of(place);
  for (const std::string_view source : elf.source_files) {
    const std::string_view from = stem_of(source);
    if (is_key(stem, 'c') && is_key(from, 'c') && from != stem) {
      facts.damage.push_back(fmt::format("compiled from {}", source));
    }
  }
  if (const ElfSection* comment = elf.find(".comment")) {
    for (const std::string_view text : printable_runs(comment->content, 4, 1)) {
      set(facts.told.compiler, text);
    }
  }
  if (const std::size_t at = name_of(place).find(".cpython-3"); at != std::string_view::npos) {
    const std::string_view minor = name_of(place).substr(at + 10); // "12-x86_64…"
    set(facts.told.python, "3." + std::string(minor.substr(0, minor.find('-'))));
  }
  if (facts.told.python.empty()) {
    set(facts.told.python, python_of(fmt::format("/python{}/", between(bytes, "/include/python", '\0'))));
  }
}

// base32 in capital letters of a digest that is given in hexadecimal (triton/runtime/cache.py, _base32).
std::string triton_folder(std::string_view hexadecimal) {
  base::Sha256 digest{};
  if (hexadecimal.size() != 2 * digest.size() ||
      hexadecimal.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return {};
  }
  const auto nibble = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(nibble(hexadecimal[2 * i]) << 4U | nibble(hexadecimal[2 * i + 1]));
  }
  std::string text = base::base32(digest);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string text_member(const nlohmann::json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// {"child_paths": {NAME: FOLDER/NAME, …}}, all in one folder, which is called as this one is.
void read_group(const std::string& place, const nlohmann::json& json, FileFacts& facts) {
  const auto children = json.find("child_paths");
  if (children == json.end() || !children->is_object() || children->empty()) {
    facts.damage.emplace_back("names no files");
    return;
  }
  for (const auto& [name, path] : children->items()) {
    const std::string text = path.is_string() ? path.get<std::string>() : std::string();
    const std::string folder = text.substr(0, std::min(text.rfind('/'), text.size()));
    facts.group.push_back(name);
    facts.group_at = facts.group_at.empty() ? folder : facts.group_at;
    if (name_of(text) != name || folder != facts.group_at || name_of(folder) != folder_of(place)) {
      facts.damage.push_back("names " + text + " as its " + name);
      return;
    }
  }
}

void read_triton_json(const std::string& place, std::string_view bytes, FileFacts& facts) {
  facts.checked = Checked::by_form;
  const auto json =
      bytes.size() > k_most_json ? nlohmann::json() : nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  if (bytes.empty() || !json.is_object()) {
    facts.damage.emplace_back(bytes.empty() ? "empty" : "is no JSON object");
    return;
  }
  if (name_of(place).starts_with("__grp__")) {
    read_group(place, json, facts);
    return;
  }
  set(facts.told.triton, text_member(json, "triton_version"));
  const std::string folder = triton_folder(text_member(json, "hash"));
  if (!folder.empty() && folder_of(place).size() == folder.size() && folder != folder_of(place)) {
    facts.damage.push_back("it belongs into " + folder);
  }
  const std::string kernel = text_member(json, "name");
  if (!kernel.empty() && kernel != stem_of(place)) {
    facts.damage.push_back("describes the kernel " + kernel);
  }
}

void read_cubin(const std::string& place, std::string_view bytes, FileFacts& facts) {
  facts.checked = Checked::by_form;
  const Elf elf = read_elf(bytes);
  if (!elf.error.empty() || elf.machine != k_elf_cuda) {
    facts.damage.push_back(elf.error.empty() ? "is not made for CUDA" : elf.error);
    return;
  }
  std::string_view other;
  bool own = false;
  for (const ElfSection& section : elf.sections) {
    if (section.name.starts_with(".text.")) {
      own = own || section.name.substr(6) == stem_of(place);
      other = section.name.substr(6);
    }
  }
  if (!own && !other.empty()) {
    facts.damage.push_back(fmt::format("holds the kernel {}", other));
  }
}

std::uint64_t number(std::string_view bytes, std::size_t offset, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  }
  return value;
}

// The CUDA driver's files, as those of driver 580 are: no description of them is published. An entry is a header of 28
// bytes, the PTX with what it was compiled for, and the cubin; the index has 16 bytes for itself and 16 for each entry:
// its name, backwards, and its size without the header.
constexpr std::uint64_t k_cuda_format = 0x41;
constexpr std::size_t k_cuda_header = 28, k_index_header = 16, k_index_record = 16;

void read_cuda_index(std::string_view bytes, FileFacts& facts) {
  if (bytes.size() < k_index_header || number(bytes, 0, 4) != k_cuda_format) {
    if (bytes.empty()) {
      facts.damage.emplace_back("empty");
    }
    return; // a format that racelab does not know
  }
  facts.checked = Checked::by_form;
  if (bytes.size() != k_index_header + number(bytes, 4, 4) * k_index_record) {
    facts.damage.push_back(fmt::format("has not the size for the {} entries that it counts", number(bytes, 4, 4)));
    return;
  }
  for (std::size_t at = k_index_header; at < bytes.size(); at += k_index_record) {
    const std::string name = fmt::format("{:016x}", number(bytes, at, 8));
    facts.group.push_back(name.substr(0, 1) + "/" + name.substr(1, 1) + "/" + name.substr(2));
    facts.group_sizes.push_back(static_cast<std::int64_t>(k_cuda_header + number(bytes, at + 8, 8)));
  }
}

void read_cuda_entry(std::string_view bytes, FileFacts& facts) {
  if (bytes.empty()) {
    facts.damage.emplace_back("empty");
  }
  if (bytes.size() < k_cuda_header || number(bytes, 0, 4) != k_cuda_format) {
    return;
  }
  facts.checked = Checked::by_form;
  const std::uint64_t expected = k_cuda_header + number(bytes, 4, 8) + number(bytes, 12, 8);
  if (bytes.size() != expected) {
    facts.damage.push_back(fmt::format("has {} bytes where its header says {}", bytes.size(), expected));
  }
}

void read_other(const std::string& place, std::string_view bytes, FileFacts& facts) {
  const std::string_view name = name_of(place);
  if (name.ends_with(".load_ok") || name.ends_with(".lock")) {
    facts.checked = bytes.empty() ? Checked::exactly : Checked::not_at_all; // there for their names only
  } else if ((name.ends_with(".json") || name.ends_with(".best_config")) && bytes.size() <= k_most_json) {
    facts.checked = Checked::by_form;
    if (!nlohmann::json::accept(bytes.begin(), bytes.end())) {
      facts.damage.emplace_back(bytes.empty() ? "empty" : "is no JSON");
    }
  }
}

} // namespace

FileFacts facts_of(const std::string& place, const std::string& layer, std::string_view bytes) {
  FileFacts facts;
  facts.digest = base::digest(bytes);
  if (layer == "fx-graph" || layer == "aot") {
    read_pickle(place, layer, bytes, facts);
  } else if (layer == "inductor-code") {
    read_python(place, bytes, facts);
  } else if (layer == "inductor-source") {
    read_cpp(bytes, facts);
  } else if (layer == "inductor-library" || name_of(place).ends_with(".so")) {
    read_library(place, bytes, facts);
  } else if (layer == "triton-json") {
    read_triton_json(place, bytes, facts);
  } else if (layer == "triton-cubin") {
    read_cubin(place, bytes, facts);
  } else if (layer == "triton-source") {
    check_text(bytes, facts);
    if (place.ends_with(".ptx")) {
      const std::string_view version = between(bytes, "\n.version ", '\n'), target = between(bytes, "\n.target ", '\n');
      set(facts.told.ptx, version.empty() ? std::string() : fmt::format("{}, {}", version, target));
    }
  } else if (layer == "cuda-jit") {
    name_of(place) == "index" ? read_cuda_index(bytes, facts) : read_cuda_entry(bytes, facts);
  } else {
    read_other(place, bytes, facts);
  }
  if (layer == "triton-cubin" || layer == "cuda-jit") {
    set(facts.told.cuda_tools, between(bytes, "Cuda compilation tools, release ", '\0'));
  }
  find_environments(bytes, facts.told);
  return facts;
}

} // namespace racelab::cache

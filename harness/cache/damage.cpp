#include "cache/damage.h"

#include "base/digest.h"
#include "base/files.h"
#include "cache/layers.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>

#include <fmt/format.h>
#include <unistd.h>

namespace racelab::cache {

namespace fs = std::filesystem;
using scenario::Damage;

namespace {

using Random = std::mt19937_64; // the same numbers on every platform; distributions of <random> are not
using Result = tl::expected<std::vector<Damaged>, std::string>;

constexpr std::size_t k_block = 512;

std::uint64_t below(Random& random, std::uint64_t n) {
  return n == 0 ? 0 : random() % n;
}

std::string content(const std::string& root, const std::string& file) {
  return base::read_file(root + "/" + file).value_or("");
}

// Written to a new file that takes the old one's place, with its mode: a copy may share its blocks with the snapshot.
tl::expected<Damaged, std::string> put(const std::string& root, const std::string& file, const std::string& bytes,
                                       std::string what) {
  const fs::path path = fs::path(root) / file;
  std::error_code error;
  const fs::perms mode = fs::exists(path) ? fs::status(path, error).permissions() : fs::perms(0644);
  fs::remove_all(path, error);
  fs::create_directories(path.parent_path(), error);
  if (const auto written = base::write_file(path.string(), bytes); !written) {
    return tl::unexpected(written.error());
  }
  fs::permissions(path, mode, error);
  return Damaged{file, std::move(what), base::digest(bytes)};
}

// What a writer of the file calls it before it is whole: .PID.THREAD.tmp (torch's write_atomic), or
// tmp.pid_PID_UUID/NAME (triton/runtime/cache.py). No process has that number; the rest is of the file.
std::string temporary_beside(const std::string& file) {
  const fs::path path = file;
  const std::string own = base::digest(file);
  const bool of_triton = *path.begin() == "triton";
  const fs::path name =
      of_triton ? fs::path("tmp.pid_4194303_" + own) / path.filename()
                : fs::path(fmt::format(".4194303.{}.tmp", std::stoull(own, nullptr, 16) % 1'000'000'000'000));
  return (path.parent_path() / name).string();
}

// What a kind does to one file.
using OneFile = std::function<tl::expected<Damaged, std::string>(const std::string& root, const std::string& file,
                                                                 const std::string& old, Random&)>;

OneFile truncate_to(const std::function<std::size_t(std::size_t)>& size) {
  return [size](const std::string& root, const std::string& file, const std::string& old, Random&) {
    const std::size_t kept = size(old.size());
    return put(root, file, old.substr(0, kept), fmt::format("truncated from {} to {} bytes", old.size(), kept));
  };
}

tl::expected<Damaged, std::string> flip_bit(const std::string& root, const std::string& file, const std::string& old,
                                            Random& random) {
  if (old.empty()) {
    return tl::unexpected(file + " is empty: there is no bit to flip");
  }
  const std::uint64_t at = below(random, old.size()), bit = below(random, 8);
  std::string bytes = old;
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
  return put(root, file, bytes, fmt::format("bit {} of byte {} flipped", bit, at));
}

tl::expected<Damaged, std::string> zero_block(const std::string& root, const std::string& file, const std::string& old,
                                              Random& random) {
  const std::size_t blocks = (old.size() + k_block - 1) / k_block;
  const std::size_t from = below(random, blocks) * k_block, to = std::min(old.size(), from + k_block);
  std::string bytes = old;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to), '\0');
  if (bytes == old) {
    return tl::unexpected(fmt::format("{}: bytes {} to {} are zero already", file, from, to));
  }
  return put(root, file, bytes, fmt::format("bytes {} to {} zeroed", from, to));
}

tl::expected<Damaged, std::string> garbage(const std::string& root, const std::string& file, const std::string& old,
                                           Random& random) {
  std::string bytes(std::max<std::size_t>(old.size(), 64), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(random());
  }
  return put(root, file, bytes, fmt::format("{} random bytes instead", bytes.size()));
}

tl::expected<Damaged, std::string> remove_file(const std::string& root, const std::string& file, const std::string&,
                                               Random&) {
  std::error_code error;
  fs::remove(fs::path(root) / file, error);
  return Damaged{file, "removed", "missing"};
}

tl::expected<Damaged, std::string> make_directory(const std::string& root, const std::string& file, const std::string&,
                                                  Random&) {
  std::error_code error;
  fs::remove(fs::path(root) / file, error);
  fs::create_directory(fs::path(root) / file, error);
  return Damaged{file, "a directory instead", "directory"};
}

tl::expected<Damaged, std::string> take_permissions(const std::string& root, const std::string& file,
                                                    const std::string& old, Random&) {
  const std::string path = root + "/" + file;
  std::error_code error;
  fs::permissions(path, fs::perms::none, error);
  return Damaged{file, fmt::format("no permission to read its {} bytes", old.size()), k_unreadable};
}

// A publisher that died after `share` of its temporary file was written, and before the rename.
OneFile half_published(double share) {
  return [share](const std::string& root, const std::string& file, const std::string& old, Random&) {
    std::error_code error;
    fs::remove(fs::path(root) / file, error);
    const auto size = static_cast<std::size_t>(static_cast<double>(old.size()) * share);
    auto done = put(root, temporary_beside(file), old.substr(0, size),
                    fmt::format("instead of {}: {} of its {} bytes, not renamed", file, size, old.size()));
    if (done) {
      done->entry = file;
    }
    return done;
  };
}

struct Kind {
  DamageKind kind;
  OneFile one; // empty: it takes several files
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {{"truncate-zero", "no byte is left"}, truncate_to([](std::size_t) { return std::size_t{0}; })},
      {{"truncate-half", "the first half is left"}, truncate_to([](std::size_t n) { return n / 2; })},
      {{"truncate-last", "the last byte is gone"},
       truncate_to([](std::size_t n) { return n - std::min<std::size_t>(n, 1); })},
      {{"bit-flip", "one bit is another"}, flip_bit},
      {{"zero-block", "512 bytes are zero"}, zero_block},
      {{"garbage", "random bytes instead"}, garbage},
      {{"swap", "two entries have each other's content"}, {}},
      {{"missing", "the file is gone, the rest of its entry is there"}, remove_file},
      {{"duplicate-key", "a second payload, of another entry, under the key"}, {}},
      {{"half-published-empty", "a writer died with its temporary file empty"}, half_published(0)},
      {{"half-published-part", "a writer died with half of its temporary file written"}, half_published(0.5)},
      {{"half-published-whole", "a writer died between its last byte and the rename"}, half_published(1)},
      {{"no-permission", "the file cannot be read"}, take_permissions},
      {{"directory", "a directory where the file was"}, make_directory},
  };
  return all;
}

std::vector<std::string> choose(std::vector<std::string> files, std::size_t count, Random& random) {
  for (std::size_t i = files.size(); i > 1; --i) { // Fisher-Yates
    std::swap(files[i - 1], files[below(random, i)]);
  }
  if (count > 0 && files.size() > count) {
    files.resize(count);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The content of each goes to the next one, the last one's to the first.
Result rotate(const std::string& root, const std::vector<std::string>& files) {
  std::vector<std::string> contents;
  for (const std::string& file : files) {
    contents.push_back(content(root, file));
  }
  std::vector<Damaged> damaged;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::size_t from = (i + files.size() - 1) % files.size();
    auto done = put(root, files[i], contents[from], "has the content of " + files[from]);
    if (!done) {
      return tl::unexpected(done.error());
    }
    damaged.push_back(std::move(*done));
  }
  return damaged;
}

// Beside each file, the content of the next one, under a name that is looked at first: torch takes a key's files in
// order of name, which begins with a letter or with 2 to 7 (torch/_inductor/codecache.py: iterate_over_candidates).
Result duplicate(const std::string& root, const std::vector<std::string>& files) {
  std::vector<Damaged> damaged;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& other = files[(i + 1) % files.size()];
    const std::string twin = files[i].substr(0, files[i].rfind('/') + 1) + "0" + base::digest(files[i]);
    auto done = put(root, twin, content(root, other), "a second payload under this key: that of " + other);
    if (!done) {
      return tl::unexpected(done.error());
    }
    damaged.push_back(std::move(*done));
  }
  return damaged;
}

std::string state_of(const std::string& root, const std::string& file) {
  const fs::path path = fs::path(root) / file;
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) {
    return "missing";
  }
  if (type == fs::file_type::directory) {
    return "directory";
  }
  const bool readable = (fs::status(path, error).permissions() & fs::perms::owner_read) != fs::perms::none;
  return readable ? base::digest(content(root, file)) : k_unreadable; // root could read it all the same
}

} // namespace

const std::vector<DamageKind>& damage_kinds() {
  static const std::vector<DamageKind> names = [] {
    std::vector<DamageKind> list;
    for (const Kind& kind : kinds()) {
      list.push_back(kind.kind);
    }
    return list;
  }();
  return names;
}

Result apply_damage(const std::string& root, const Damage& damage, const std::vector<Layer>& among) {
  const Layer* layer = find_layer(damage.layer, among);
  if (layer == nullptr) {
    return tl::unexpected("there is no layer " + damage.layer);
  }
  std::vector<std::string> files = files_of(root, *layer, among);
  if (!damage.files.empty()) {
    std::erase_if(files, [&](const std::string& file) { return !path_matches(damage.files, file); });
  }
  if (files.empty()) {
    return tl::unexpected(fmt::format("the cache has no file of the layer {}{}", damage.layer,
                                      damage.files.empty() ? "" : " that matches " + damage.files));
  }
  Random random(damage.seed);
  const bool pair = damage.how == "swap" || damage.how == "duplicate-key";
  if (pair && files.size() < 2) {
    return tl::unexpected(
        fmt::format("{} needs two files of the layer {}, and there is one", damage.how, damage.layer));
  }
  if (damage.how == "duplicate-key" && !layer->many_per_key) {
    return tl::unexpected(fmt::format("the layer {} has one file per key, found by its name", damage.layer));
  }
  const std::size_t least = pair && damage.count == 1 ? 2 : static_cast<std::size_t>(damage.count);
  files = choose(std::move(files), least, random);
  if (damage.how == "swap") {
    return rotate(root, files);
  }
  if (damage.how == "duplicate-key") {
    return duplicate(root, files);
  }
  const auto kind =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.kind.name == damage.how; });
  if (kind == kinds().end()) {
    return tl::unexpected("there is no damage " + damage.how);
  }
  std::vector<Damaged> damaged;
  for (const std::string& file : files) {
    auto done = kind->one(root, file, content(root, file), random);
    if (!done) {
      return tl::unexpected(done.error());
    }
    damaged.push_back(std::move(*done));
  }
  return damaged;
}

tl::expected<void, std::string> verify_damage(const std::string& root, const std::vector<Damaged>& damaged) {
  for (const Damaged& d : damaged) {
    if (const std::string now = state_of(root, d.file); now != d.digest) {
      return tl::unexpected(fmt::format("{} should be {} ({}) and is {}", d.file, d.digest, d.what, now));
    }
  }
  return {};
}

namespace {

// Where a key has a folder of its own, an entry that is made anew may have another name.
bool is_there_again(const std::string& root, const std::string& file) {
  const Layer* layer = layer_of(file);
  if (layer == nullptr || !layer->many_per_key) {
    return state_of(root, file) != "missing";
  }
  std::error_code error;
  const fs::directory_iterator it((fs::path(root) / file).parent_path(), error);
  return !error && std::any_of(it, fs::directory_iterator(),
                               [](const auto& entry) { return !entry.path().filename().string().starts_with("."); });
}

} // namespace

bool is_mended(const std::string& root, const std::vector<Damaged>& damaged) {
  return std::all_of(damaged.begin(), damaged.end(), [&](const Damaged& d) {
    const std::string& missing = d.digest == "missing" ? d.file : d.entry;
    return missing.empty() ? state_of(root, d.file) != d.digest : is_there_again(root, missing);
  });
}

Result forge(const std::string& root, const std::string& foreign, const std::string& layer_name,
             const std::vector<Layer>& among) {
  const Layer* layer = find_layer(layer_name, among);
  if (layer == nullptr) {
    return tl::unexpected("there is no layer " + layer_name);
  }
  const auto own = files_of(root, *layer, among), others = files_of(foreign, *layer, among);
  if (own.empty() || others.empty()) {
    return tl::unexpected(fmt::format("{} cache has no file of the layer {}",
                                      own.empty() ? "this toolkit's" : "the other toolkit's", layer_name));
  }
  std::vector<Damaged> forged;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string& from = others[i % others.size()];
    auto done = put(root, own[i], content(foreign, from), "has the content of the other toolkit's " + from);
    if (!done) {
      return tl::unexpected(done.error());
    }
    forged.push_back(std::move(*done));
  }
  return forged;
}

Result leave_behind(const std::string& root, const std::string& what, const std::vector<Layer>& among) {
  std::vector<Damaged> left;
  const auto add = [&](const std::string& file, const std::string& bytes, const std::string& text) -> bool {
    auto done = put(root, file, bytes, text);
    if (done) {
      left.push_back(std::move(*done));
    }
    return done.has_value();
  };
  std::vector<std::string> folders;
  for (const Layer& layer : among) {
    for (const std::string& file : files_of(root, layer, among)) {
      if (what == "lock" && layer.name == "inductor-library") {
        const std::string stem = fs::path(file).filename().string();
        add("inductor/locks/" + stem.substr(0, stem.find('.')) + ".lock", "", "a lock file whose owner is gone");
      } else if (what == "temporary" && layer.name != "locks" &&
                 std::find(folders.begin(), folders.end(), fs::path(file).parent_path()) == folders.end()) {
        folders.push_back(fs::path(file).parent_path());
        add(temporary_beside(file), content(root, file).substr(0, 100), "a temporary file whose writer is gone");
      }
    }
  }
  if (left.empty()) {
    return tl::unexpected("nothing in the cache that a " + what + " file could belong to");
  }
  return left;
}

} // namespace racelab::cache

#pragma once
// Damage to a prepared cache: seeded, byte-exact, and looked at again before the trial begins.
#include "cache/layers.h"
#include "scenario/scenario.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace racelab::cache {

struct DamageKind {
  std::string name; // as scenarios name it: "truncate-half"
  std::string about;
};

// Every kind of damage that there is.
const std::vector<DamageKind>& damage_kinds();

// Instead of a digest.
constexpr const char* k_unreadable = "unreadable";

// One file after its damage.
struct Damaged {
  std::string file;    // below the cache's root
  std::string what;    // "truncated from 8120 to 4060 bytes"
  std::string digest;  // of the content that must be there now; "missing", "directory"
  std::string entry{}; // the file that is not there because of it; empty: `file` is the one that is wrong
};

// Damages files below `root`. The same tree, damage and seed give the same bytes. The error says why it cannot be had:
// no file of that layer, one entry where two are needed, or a kind that makes no sense for the layer.
tl::expected<std::vector<Damaged>, std::string> apply_damage(const std::string& root, const scenario::Damage& damage,
                                                             const std::vector<Layer>& among = layers());

// Is the damage (still) there? The error names the first file that is not as it was left.
tl::expected<void, std::string> verify_damage(const std::string& root, const std::vector<Damaged>& damaged);

// Is it gone: has each wrong file another content now, and is each missing entry there again?
bool is_mended(const std::string& root, const std::vector<Damaged>& damaged);

// Content of another cache under this one's keys: each file of the layer gets the content of a file of the same layer
// below `foreign`, in order of name. The error says where either has none.
tl::expected<std::vector<Damaged>, std::string> forge(const std::string& root, const std::string& foreign,
                                                      const std::string& layer,
                                                      const std::vector<Layer>& among = layers());

// What a process that died leaves: "lock" files in the lock folder, and "temporary" files beside the entries of every
// layer, as their writers name them.
tl::expected<std::vector<Damaged>, std::string> leave_behind(const std::string& root, const std::string& what,
                                                             const std::vector<Layer>& among = layers());

} // namespace racelab::cache

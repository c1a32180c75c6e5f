#include "scenario/cache_states.h"

#include "base/text.h"
#include "scenario/shape.h"

#include <functional>
#include <utility>

namespace racelab::scenario {

namespace {

constexpr std::uint64_t k_little_room = 64 * 1024; // less than one compiled kernel needs

using Define = std::function<void(CacheState&)>;

const std::vector<std::pair<std::string, Define>>& plain_states() {
  static const std::vector<std::pair<std::string, Define>> all{
      {"cold", [](CacheState& s) { s.kind = CacheKind::cold; }},
      {"warm", [](CacheState&) {}},
      {"half-warm", [](CacheState& s) { s.without = {"aot"}; }},
      {"corrupted",
       [](CacheState& s) {
         s.damage = {{"fx-graph", "truncate-half"}, {"aot", "truncate-half"}};
       }},
      {"version-mismatched", [](CacheState& s) { s.filled_by = "*"; }},
      {"read-only", [](CacheState& s) { s.read_only = true; }},
      {"full",
       [](CacheState& s) {
         s.kind = CacheKind::cold;
         s.quota_bytes = k_little_room;
       }},
      {"stale",
       [](CacheState& s) {
         s.left_behind = {"lock", "temporary"};
       }},
      {"vanishing",
       [](CacheState& s) {
         s.kind = CacheKind::cold;
         s.vanish_at = {"*", "cache.rename.enter"};
       }},
      {"shared",
       [](CacheState& s) {
         s.kind = CacheKind::cold;
         s.copies = 2;
       }},
  };
  return all;
}

Damage read_damage(const Value& value) {
  Damage damage{text_of(value.find("layer")), text_of(value.find("how")), text_of(value.find("files"))};
  std::uint64_t number = 0;
  if (const Value* count = value.find("count"); count != nullptr && read_integer(*count, number))
    damage.count = static_cast<int>(number);
  if (const Value* seed = value.find("seed"); seed != nullptr && read_integer(*seed, number))
    damage.seed = number;
  return damage;
}

} // namespace

const std::vector<std::string>& plain_cache_states() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& [name, define] : plain_states())
      list.push_back(name);
    return list;
  }();
  return names;
}

CacheState plain_cache_state(const std::string& name, const base::SourcePlace& place) {
  CacheState state{name, CacheKind::warm, place};
  for (const auto& [plain, define] : plain_states())
    if (plain == name)
      define(state);
  return state;
}

CacheState read_cache_state(const Entry& entry) {
  const Value& value = entry.value;
  CacheState state{entry.key, text_of(value.find("from")) == "warm" ? CacheKind::warm : CacheKind::cold, entry.place};
  state.without = texts_of(value.find("without"));
  if (const Value* corrupt = value.find("corrupt")) {
    if (corrupt->kind == Value::Kind::map)
      state.damage.push_back(read_damage(*corrupt));
    for (const Value& item : corrupt->items)
      state.damage.push_back(read_damage(item));
  }
  state.filled_by = text_of(value.find("filled_by"));
  if (const Value* forge = value.find("forge")) {
    state.forge_layer = text_of(forge->find("layer"));
    state.forge_by = text_of(forge->find("by"));
  }
  state.left_behind = texts_of(value.find("left_behind"));
  state.read_only = text_of(value.find("read_only")) == "true";
  if (const Value* quota = value.find("quota"))
    state.quota_bytes = base::parse_bytes(quota->text).value_or(0);
  if (const auto event = schedule::parse_event(text_of(value.find("vanish_at"))))
    state.vanish_at = *event;
  if (std::uint64_t copies = 0; value.find("shared") != nullptr && read_integer(*value.find("shared"), copies))
    state.copies = static_cast<int>(copies);
  return state;
}

CacheDirectory read_cache_directory(const Entry& entry) {
  const Value& value = entry.value;
  const bool is_short = value.kind == Value::Kind::scalar;
  CacheDirectory directory{entry.key, is_short ? value.text : text_of(value.find("variable")), {}, "", "", entry.place};
  if (const Value* layers = value.find("layers"))
    for (const Entry& layer : layers->entries)
      directory.layers.emplace_back(layer.key, texts_of(&layer.value));
  if (directory.layers.empty())
    directory.layers = {{entry.key, {"**"}}};
  directory.hit = text_of(value.find("hit"));
  directory.miss = text_of(value.find("miss"));
  return directory;
}

} // namespace racelab::scenario

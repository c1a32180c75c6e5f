// damage_matrix CACHE [SEEDS]: does every kind of damage to every layer of a cache (a folder with inductor/, triton/,
// cuda/), each to a copy and with several seeds, and prints as a Markdown table how often `racelab cache verify` would
// have seen it. Exit code 1: the cache is damaged already.
#include "cache/damage.h"
#include "cache/inspect.h"
#include "cache/layers.h"
#include "cache/tree.h"
#include "support.h"

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>

namespace racelab::cache::test {
namespace {

struct Tally {
  int done = 0, damaged = 0, remarked = 0;
};

// Nothing happened where the damage cannot be had (one entry where two are needed, root whom no mode binds).
Tally tally(const std::string& cache, const Folder& scratch, const scenario::Damage& first, int seeds,
            std::size_t remarks) {
  Tally tally;
  scenario::Damage damage = first;
  for (int seed = 0; seed < seeds; ++seed) {
    const std::string copy = scratch / "copy";
    remove_tree(copy);
    damage.seed = static_cast<std::uint64_t>(seed);
    if (!copy_tree(cache, copy) || !apply_damage(copy, damage)) {
      continue;
    }
    const auto found = inspect(copy);
    ++tally.done;
    tally.damaged += found && !found->damage.empty() ? 1 : 0;
    tally.remarked += found && found->damage.empty() && found->remarks.size() > remarks ? 1 : 0;
  }
  return tally;
}

std::string cell(const Tally& tally) {
  if (tally.done == 0) {
    return "–";
  }
  if (tally.damaged == tally.done) {
    return "all";
  }
  const std::string remarked = tally.remarked > 0 ? fmt::format(" ({} odd)", tally.remarked) : "";
  return (tally.damaged == 0 ? "none" : fmt::format("{} of {}", tally.damaged, tally.done)) + remarked;
}

int run(const std::string& cache, int seeds) {
  const Folder scratch;
  const std::string copy = scratch / "copy";
  if (!copy_tree(cache, copy)) {
    return 2;
  }
  const auto whole = inspect(copy);
  if (!whole || !whole->damage.empty()) {
    std::cerr << (whole ? whole->damage[0].path + ": " + whole->damage[0].what : whole.error()) << "\n";
    return 1;
  }
  std::vector<std::string> present;
  for (const LayerSum& layer : whole->layers) {
    if (find_layer(layer.name) != nullptr && layer.name != "locks") {
      present.push_back(layer.name);
    }
  }
  std::cout << "| damage |";
  for (const std::string& layer : present) {
    std::cout << " " << layer << " |";
  }
  std::cout << "\n|---|";
  for (std::size_t i = 0; i < present.size(); ++i) {
    std::cout << "---|";
  }
  std::cout << "\n";
  for (const DamageKind& kind : damage_kinds()) {
    std::cout << "| `" << kind.name << "` |";
    for (const std::string& layer : present) {
      std::cout << " " << cell(tally(cache, scratch, {layer, kind.name, "", 1, 0}, seeds, whole->remarks.size()))
                << " |";
    }
    std::cout << std::endl;
  }
  return 0;
}

} // namespace
} // namespace racelab::cache::test

int main(int argc, char** argv) {
  constexpr int k_seeds = 20;
  if (argc < 2) {
    std::cerr << "damage_matrix CACHE [SEEDS]\n";
    return 2;
  }
  return racelab::cache::test::run(argv[1], argc > 2 ? std::atoi(argv[2]) : k_seeds);
}

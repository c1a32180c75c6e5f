// Any bytes as a file of a compile cache: what they say is bounded, and nothing is read beside them. The first byte
// chooses the layer.
#include "base/assert.h"
#include "cache/facts.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace {

using namespace racelab::cache;

// Layer and a place that is right for it.
const std::array<std::pair<const char*, std::string>, 11> k_places{{
    {"fx-graph", "inductor/fxgraph/aa/f" + std::string(51, 'a') + "/" + std::string(51, 'b')},
    {"aot", "inductor/aotautograd/a" + std::string(51, 'a') + "/" + std::string(51, 'b')},
    {"inductor-code", "inductor/aa/c" + std::string(51, 'a') + ".py"},
    {"inductor-source", "inductor/aa/c" + std::string(51, 'a') + ".main.cpp"},
    {"inductor-library", "inductor/aa/c" + std::string(51, 'a') + ".main.so"},
    {"triton-json", "triton/" + std::string(52, 'A') + "/__grp__kernel.json"},
    {"triton-json", "triton/" + std::string(52, 'A') + "/kernel.json"},
    {"triton-cubin", "triton/" + std::string(52, 'A') + "/kernel.cubin"},
    {"triton-source", "triton/" + std::string(52, 'A') + "/kernel.ptx"},
    {"cuda-jit", "cuda/index"},
    {"cuda-jit", "cuda/3/c/7a2cf553204c01"},
}};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto& [layer, place] = k_places[data[0] % k_places.size()];
  const std::string bytes(reinterpret_cast<const char*>(data) + 1,
                          size - 1); // of its own, so that reading beyond is seen
  const FileFacts facts = facts_of(place, layer, bytes);
  RACELAB_ASSERT(!bytes.empty() || !facts.damage.empty());
  RACELAB_ASSERT(facts.told.environments.size() <= 16 && facts.told.torch.size() <= 200);
  RACELAB_ASSERT(facts.group.size() <= bytes.size());
  return 0;
}

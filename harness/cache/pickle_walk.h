#pragma once
// Goes through a pickle without executing it: where its opcodes end, and which texts and bytes it holds. Nothing is
// built, imported or called, so that what a hostile pickle asks for does not happen.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace racelab::cache {

// A text or a byte string, in the order in which the unpickler would come by it; one that was memorised comes again
// each time it is fetched.
struct PickleItem {
  std::string_view value;
  bool is_text = false;
};

struct PickleWalk {
  int protocol = -1;
  std::string error; // empty: from PROTO to STOP, which is the last byte
};

// Protocols 2 to 5, which are all that write PROTO.
PickleWalk walk_pickle(std::string_view bytes, const std::function<void(const PickleItem&)>& see);

} // namespace racelab::cache

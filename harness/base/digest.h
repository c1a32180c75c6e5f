#pragma once
// Fingerprints: XXH3 of texts that are fed in order.
#include <string>
#include <string_view>

namespace racelab::base {

// 16 hexadecimal digits of XXH3-64 over the bytes.
std::string digest(std::string_view bytes);

} // namespace racelab::base

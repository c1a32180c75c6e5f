#pragma once
// SHA-256, which torch, wheels and racelab's manifests name contents by. From libmd; about 250 MB/s on one core.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace racelab::base {

using Sha256 = std::array<std::uint8_t, 32>;

// Of bytes that come in pieces.
class Sha256Hasher {
public:
  Sha256Hasher();
  void update(std::string_view bytes);
  Sha256 finish(); // once

private:
  alignas(8) std::array<unsigned char, 256> m_state{}; // libmd's context, whose header stays out of this one
};

Sha256 sha256(std::string_view bytes);

// 64 hexadecimal digits.
std::string hex(const Sha256& digest);
// RFC 4648 without padding, in small letters: 52 of them.
std::string base32(const Sha256& digest);
// The URL-safe alphabet without padding: 43 letters, as wheels write it.
std::string base64_url(const Sha256& digest);

} // namespace racelab::base

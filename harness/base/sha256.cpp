#include "base/sha256.h"

#include "base/assert.h"

#include <new>

#include <sha2.h>

namespace racelab::base {

namespace {

// `bits` at a time, from the most significant one on; zeros behind the last byte.
std::string encode(const Sha256& digest, int bits, std::string_view alphabet) {
  std::string text;
  std::uint32_t buffer = 0;
  int held = 0;
  for (const std::uint8_t byte : digest) {
    buffer = (buffer << 8U) | byte;
    for (held += 8; held >= bits; held -= bits) {
      text += alphabet[(buffer >> static_cast<unsigned>(held - bits)) & ((1U << static_cast<unsigned>(bits)) - 1)];
    }
  }
  if (held > 0) {
    text += alphabet[(buffer << static_cast<unsigned>(bits - held)) & ((1U << static_cast<unsigned>(bits)) - 1)];
  }
  return text;
}

SHA2_CTX* context(std::array<unsigned char, 256>& state) {
  return std::launder(reinterpret_cast<SHA2_CTX*>(state.data()));
}

} // namespace

Sha256Hasher::Sha256Hasher() {
  static_assert(sizeof(SHA2_CTX) <= sizeof m_state && alignof(SHA2_CTX) <= 8);
  SHA256Init(new (m_state.data()) SHA2_CTX);
}

void Sha256Hasher::update(std::string_view bytes) {
  SHA256Update(context(m_state), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

Sha256 Sha256Hasher::finish() {
  static_assert(SHA256_DIGEST_LENGTH == std::tuple_size_v<Sha256>);
  Sha256 digest{};
  SHA256Final(digest.data(), context(m_state));
  return digest;
}

Sha256 sha256(std::string_view bytes) {
  Sha256Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

std::string hex(const Sha256& digest) {
  return encode(digest, 4, "0123456789abcdef");
}

std::string base32(const Sha256& digest) {
  return encode(digest, 5, "abcdefghijklmnopqrstuvwxyz234567");
}

std::string base64_url(const Sha256& digest) {
  return encode(digest, 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
}

} // namespace racelab::base

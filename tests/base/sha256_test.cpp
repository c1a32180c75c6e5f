// SHA-256 and its three spellings.
#include "base/sha256.h"

#include "base/text.h"

#include <gtest/gtest.h>

namespace racelab::base {
namespace {

TEST(Sha256, IsThatOfTheStandard) { // FIPS 180-2, appendix B.1
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  Sha256Hasher hasher;
  hasher.update("a");
  Sha256Hasher copy = hasher; // goes on by itself
  hasher.update("bc");
  copy.update("x");
  EXPECT_EQ(hasher.finish(), sha256("abc"));
  EXPECT_EQ(copy.finish(), sha256("ax"));
}

TEST(Sha256, IsSpelledAsTorchAndWheelsSpellIt) { // base64.b32encode(…).lower(), urlsafe_b64encode, without '='
  EXPECT_EQ(base32(sha256("abc")), "xj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacwwq");
  EXPECT_EQ(base64_url(sha256("abc")), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

TEST(Utf8, IsToldFromBytesThatAreNot) {
  for (const char* text : {"", "plain", "ä", "€", "𝄞", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(text)) << text;
  // A lone continuation, one too few, too long a form, a surrogate, beyond the last code point.
  for (const char* bytes : {"\x80", "\xe2\x82", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(bytes));
}

} // namespace
} // namespace racelab::base

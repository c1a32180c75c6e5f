// Pickles, walked through and never executed.
#include "cache/pickle_walk.h"

#include "pickles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace racelab::cache::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> items_of(const std::string& bytes) {
  std::vector<std::string> items;
  walk_pickle(bytes,
              [&](const PickleItem& item) { items.push_back((item.is_text ? "" : "b:") + std::string(item.value)); });
  return items;
}

std::string error_of(const std::string& bytes) {
  return walk_pickle(bytes, [](const PickleItem&) {}).error;
}

TEST(Pickles, GiveTheirTextsAndBytesInOrder) {
  const std::string pickle = Pickle().text("name").text(std::string(300, 'x')).bytes("payload").again(0).str();
  EXPECT_THAT(items_of(pickle), ElementsAre("name", std::string(300, 'x'), "b:payload", "name"));
  EXPECT_EQ(error_of(pickle), "");
}

TEST(Pickles, OfEveryProtocolAreWalked) {
  // pickle.dumps({"a": [1, 2.5, None, True, b"b"]}, protocol=n)
  const std::string by_protocol[] = {std::string("\x80\x02}q\x00X\x01\x00\x00\x00"
                                                 "aq\x01]q\x02(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88"
                                                 "c_codecs\nencode\nq\x03X\x01\x00\x00\x00"
                                                 "bq\x04X\x06\x00\x00\x00latin1q\x05\x86q\x06Rq\x07"
                                                 "es.",
                                                 78),
                                     std::string("\x80\x05\x95\x1d\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01"
                                                 "a\x94]\x94(K\x01G@\x04\x00\x00\x00\x00\x00\x00N\x88"
                                                 "C\x01"
                                                 "b\x94"
                                                 "es.",
                                                 40)};
  for (const std::string& pickle : by_protocol)
    EXPECT_EQ(error_of(pickle), "") << static_cast<int>(pickle[1]);
}

TEST(Pickles, ThatAreCutSaySo) {
  const std::string pickle = Pickle().text("one").bytes("two").str();
  for (std::size_t n = 0; n < pickle.size(); ++n)
    EXPECT_THAT(error_of(pickle.substr(0, n)), testing::Not(IsEmpty())) << n;
}

TEST(Pickles, WithSomethingBehindTheirEndSaySo) {
  EXPECT_THAT(error_of(Pickle().text("one").str() + "\n"), HasSubstr("1 bytes follow"));
}

TEST(Pickles, ThatAreNoneSaySo) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("import os\n"), HasSubstr("does not begin"));
  EXPECT_THAT(error_of("\x80\x63."), HasSubstr("protocol 99"));
  EXPECT_THAT(error_of("\x80\x04\xff."), HasSubstr("no opcode at byte 2"));
}

TEST(Pickles, ThatAskForMuchGetNothing) {
  // A length of 2^64 - 1, a frame beyond the end, a memo slot far away, a fetch of what was never memorised.
  EXPECT_THAT(error_of("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff."), HasSubstr("needs more"));
  EXPECT_THAT(error_of(std::string("\x80\x04\x95\xff\0\0\0\0\0\0\0N.", 12)), HasSubstr("needs more"));
  EXPECT_EQ(error_of("\x80\x04Nr\xff\xff\xff\xffj\xff\xff\xff\xff."), "");
  EXPECT_THAT(items_of("\x80\x04j\xff\xff\xff\xff."), IsEmpty());
  EXPECT_EQ(error_of("\x80\x04" + std::string(2'000'000, '\x94') + "."), "");
}

} // namespace
} // namespace racelab::cache::test

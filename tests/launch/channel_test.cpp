#include "launch/channel.h"

#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace racelab::launch::test {
namespace {

struct Ends {
  int a = -1, b = -1;
  Ends() {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0) {
      a = fds[0];
      b = fds[1];
    }
  }
  ~Ends() {
    close_a();
    close(b);
  }
  void close_a() {
    if (a >= 0)
      close(a);
    a = -1;
  }
};

TEST(Channel, KeepsMessagesApartAndInOrder) {
  const Ends ends;
  ASSERT_TRUE(send_message(ends.a, {{"pid", 12}}));
  ASSERT_TRUE(send_message(ends.a, {{"exit", 0}, {"text", "line\nbreak \xC3\xA9"}}));
  EXPECT_EQ(receive_message(ends.b), (Json{{"pid", 12}}));
  EXPECT_EQ(receive_message(ends.b), (Json{{"exit", 0}, {"text", "line\nbreak \xC3\xA9"}}));
}

TEST(Channel, CarriesLongMessages) {
  const Ends ends;
  const Json message{{"text", std::string(100'000, 'x')}};
  ASSERT_TRUE(send_message(ends.a, message));
  EXPECT_EQ(receive_message(ends.b), message);
}

TEST(Channel, PassesDescriptors) {
  const Ends ends;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  ASSERT_TRUE(send_message(ends.a, {{"go", true}}, {pipe_ends[0], pipe_ends[1]}));
  close(pipe_ends[0]);
  close(pipe_ends[1]);

  char text[100], control[CMSG_SPACE(sizeof(int) * 8)];
  iovec data{text, sizeof text};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(ends.b, &header, 0);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(n)), "{\"go\":true}");
  const cmsghdr* c = CMSG_FIRSTHDR(&header);
  ASSERT_NE(c, nullptr);
  ASSERT_EQ(c->cmsg_type, SCM_RIGHTS);
  ASSERT_EQ(c->cmsg_len, CMSG_LEN(sizeof(int) * 2));
  int got[2];
  std::memcpy(got, CMSG_DATA(c), sizeof got);
  ASSERT_EQ(write(got[1], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(got[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  close(got[0]);
  close(got[1]);
}

TEST(Channel, HasNoMessageOnceTheOtherEndIsClosed) {
  Ends ends;
  ASSERT_TRUE(send_message(ends.a, {{"last", 1}}));
  ends.close_a();
  EXPECT_EQ(receive_message(ends.b), (Json{{"last", 1}}));
  EXPECT_EQ(receive_message(ends.b), std::nullopt);
}

TEST(Channel, FailsToSendToAClosedEndWithoutASignal) {
  Ends ends;
  ends.close_a();
  EXPECT_FALSE(send_message(ends.b, {{"x", 1}}));
  EXPECT_EQ(errno, EPIPE);
}

TEST(Channel, TakesGarbageForNoMessage) {
  for (const std::string garbage : {"not json", "[1]", "\"text\"", "{\"half\":"}) {
    const Ends ends;
    ASSERT_EQ(send(ends.a, garbage.data(), garbage.size(), 0), static_cast<ssize_t>(garbage.size()));
    EXPECT_EQ(receive_message(ends.b), std::nullopt) << garbage;
  }
}

} // namespace
} // namespace racelab::launch::test

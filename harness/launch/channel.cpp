#include "launch/channel.h"

#include "base/assert.h"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>

namespace racelab::launch {

namespace {
constexpr std::size_t k_max_message = std::size_t{1} << 20U;
constexpr std::size_t k_max_descriptors = 8;
} // namespace

bool send_message(int socket, const Json& message, const std::vector<int>& descriptors) {
  RACELAB_ASSERT(descriptors.size() <= k_max_descriptors);
  std::string text = message.dump();
  RACELAB_ASSERT(text.size() < k_max_message);
  iovec data{text.data(), text.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * k_max_descriptors)] = {};
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(c), descriptors.data(), sizeof(int) * descriptors.size());
  }
  ssize_t n = 0;
  do {
    n = sendmsg(socket, &header, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(text.size());
}

std::optional<Json> receive_message(int socket) {
  std::string text(k_max_message, '\0');
  ssize_t n = 0;
  do {
    n = recv(socket, text.data(), text.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) {
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(n));
  Json message = Json::parse(text, nullptr, false);
  return message.is_object() ? std::optional<Json>(std::move(message)) : std::nullopt;
}

} // namespace racelab::launch

#pragma once
// JSON messages with descriptors over a SOCK_SEQPACKET socket: one object a message.
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace racelab::launch {

using Json = nlohmann::ordered_json;

// False with errno set if the other end is gone.
bool send_message(int socket, const Json& message, const std::vector<int>& descriptors = {});

// The next message; nullopt at the end of the stream or on garbage. Blocks.
std::optional<Json> receive_message(int socket);

} // namespace racelab::launch

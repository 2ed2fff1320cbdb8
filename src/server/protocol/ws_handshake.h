// How an HTTP request becomes a WebSocket (RFC 6455, 4.2). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/protocol/http_message.h"

namespace hutch::server::ws {

// What is answered to a request that asks for no WebSocket, or wrongly.
std::optional<http::Answer> check_upgrade(const http::Request& request);

// The proof that its key was read.
std::string accept_key(std::string_view key);

}  // namespace hutch::server::ws

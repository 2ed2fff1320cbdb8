// HTTP on the daemon: what is done with one connection.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "server/protocol/http_guard.h"
#include "server/state/shared.h"

namespace hutch::server::http {

// Whether a connection's first bytes are a request of HTTP, and no frame: of that the last two are zero
// (wire/message.h).
inline constexpr std::size_t kFirstBytes = 8;
bool is_http(std::string_view first_bytes);

// Until the client goes, is told to, or breaks a rule. `guard` is null on the Unix socket.
void serve_connection(Shared& shared, UniqueFd socket, const Guard* guard);
// There is no room for it: its first request is answered so, where it comes by then.
void refuse_connection(UniqueFd socket, const Guard* guard, const std::string& why, std::chrono::milliseconds wait);

}  // namespace hutch::server::http

// Who may speak HTTP to the daemon: the bearer token, and what keeps browsers out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/protocol/http_message.h"
#include "sys/net/sockets.h"

namespace hutch::server::http {

// Of a connection by TCP. On the Unix socket the kernel has said who it is.
struct Guard {
  std::string token;
  bool loopback = true;  // the address that is listened on
};

// Before anything else of a request is looked at. `guard` is null on the Unix socket.
std::optional<Answer> check_place(const Request& request, const Guard* guard);  // no page of somebody else's
std::optional<Answer> check_token(const Request& request, const Guard* guard);
std::optional<Answer> check_guard(const Request& request, const Guard* guard);  // both

// Whether that is the token; takes as long for every wrong one. The empty one is nobody's.
bool is_token(std::string_view given, std::string_view token);
std::string_view bearer_of(const Request& request);  // "" where there is none

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; a port of 0 is the kernel's choice.
Result<sys::Endpoint> parse_listen(std::string_view text);
bool is_loopback(const IpAddress& address);

// What the file holds; made, with 32 random bytes, where there is none. A file that others may read is refused.
Result<std::string> load_token(const std::string& path);

}  // namespace hutch::server::http

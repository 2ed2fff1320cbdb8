// Ports of sandboxes by the name of a host, "PORT-ID.localhost", and what of a request goes on to one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/protocol/http_message.h"

namespace hutch::server::http {

// Where E2B's clients find the calls into a sandbox: those are the daemon's own.
inline constexpr std::uint16_t kEnvdPort = 49983;

struct SandboxPort {
  std::uint16_t port = 0;
  std::string id;
  bool operator==(const SandboxPort&) const = default;
};
std::optional<SandboxPort> port_of_host(std::string_view host);

// What names of sandboxes end in, for a client that called the daemon by `host`: "localhost:8642", or a name with its
// port; "" where nothing is known of it.
std::string domain_for(std::string_view host);

// The password of a sandbox's ports, which opens them and nothing else: made of the sandbox's token, which it does not
// tell.
std::string port_token(std::string_view token);

// The user and the password of Basic authentication, however its name is written (RFC 9110 11.1); absent where there is
// none.
std::optional<std::string> basic_user(const Request& request);
std::optional<std::string> basic_password(const Request& request);

// The request's head for a server in the sandbox: one request a connection, and no field that carries one of the
// secrets, whatever else let the request in.
bool asks_for_upgrade(const Request& request);
std::string forwarded_head(const Request& request, std::span<const std::string> secrets);

// Whether a browser may have been told to send it by another page than the server's own: it sends the password that it
// keeps for this one. It says whose page that was (Sec-Fetch-Site) to names below localhost, and to no other name
// without TLS.
bool may_be_of_other_page(const Request& request);

}  // namespace hutch::server::http

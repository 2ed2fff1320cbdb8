// SOCKS requests of a sandbox, and the replies to them: SOCKS4, SOCKS4a, SOCKS5 (RFC 1928) without authentication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hutch::egress {

enum class SocksVersion { kV4, kV5 };

enum class SocksStep {
  kMore,      // too few bytes yet
  kGreeting,  // SOCKS5 without authentication is offered: answer `reply`, then read the request
  kRequest,   // a whole request for a connection
  kRefused,   // no request that can be served: answer `reply`, then close
};

struct SocksRead {
  SocksStep step = SocksStep::kMore;
  std::size_t size = 0;  // of the bytes that were read
  SocksVersion version = SocksVersion::kV5;
  std::string host;  // kRequest: a name or an address, as written
  std::uint16_t port = 0;
  std::string reply;
};

// The first byte is 4 or 5. `greeted`: kGreeting has been answered.
enum class SocksState { kNew, kGreeted };
SocksRead read_socks(std::string_view bytes, SocksState state);

enum class SocksResult { kConnected, kNotAllowed, kUnreachable, kRefused };
std::string socks_reply(SocksVersion version, SocksResult result);

}  // namespace hutch::egress

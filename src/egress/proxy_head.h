// The head of a request to the HTTP proxy: where it wants to go. RFC 9110 9.3.6 (CONNECT), RFC 9112 3.2.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hutch::egress {

// A longer head is refused.
inline constexpr std::size_t kProxyHeadBytesMax = 32 << 10;

enum class ProxyStep {
  kMore,       // the head is not whole yet
  kConnect,    // CONNECT host:port
  kForward,    // a request with an absolute http:// target
  kMalformed,  // anything else
};

struct ProxyHead {
  ProxyStep step = ProxyStep::kMore;
  std::size_t size = 0;  // of the head, with its empty line
  std::string host;      // as written, an IPv6 address without its brackets
  std::uint16_t port = 0;
};

ProxyHead read_proxy_head(std::string_view bytes);

// The answer to a request that is not served, and the one to a CONNECT that is.
std::string proxy_refusal(int status, std::string_view reason_phrase, std::string_view error, std::string_view text);
std::string proxy_connected();

// What to ask of a parent proxy; `authorization` is the value of that header, or empty.
std::string connect_request(std::string_view host, std::uint16_t port, std::string_view authorization);
// The status of a parent proxy's answer, once its head is whole; 0 until then, -1 when it is none.
struct ConnectAnswer {
  int status = 0;
  std::size_t size = 0;
};
ConnectAnswer read_connect_answer(std::string_view bytes);

}  // namespace hutch::egress

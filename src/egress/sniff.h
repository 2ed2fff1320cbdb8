// What a client's first bytes say about the connection that they begin.
#pragma once

#include <string>
#include <string_view>

namespace hutch::egress {

// How many of the first bytes are looked at. A TLS hello that is longer is refused.
inline constexpr std::size_t kSniffBytesMax = 32 << 10;

enum class FirstBytes {
  kMore,       // too few yet to tell
  kTls,        // a whole TLS hello
  kHttp,       // an HTTP/1 request
  kHttp2,      // HTTP/2 without TLS (its preface, RFC 9113 3.4)
  kOther,      // neither
  kMalformed,  // begins as a TLS hello and is none
};

struct Sniffed {
  FirstBytes kind = FirstBytes::kMore;
  bool is_text = false;     // kMore: what there is could begin a request line, and nothing else that is known
  std::string server_name{};  // of a TLS hello (RFC 6066 3), as it is written; empty: it names none
};

Sniffed sniff(std::string_view bytes);

}  // namespace hutch::egress

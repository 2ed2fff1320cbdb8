// The head of an HTTP/1 message: a strict look at its raw bytes, and what is asked of its fields.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::inspect {

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};
using Headers = std::vector<Header>;

enum class MessageKind { kRequest, kResponse, kResponseToHead };

// How a message says where it ends.
enum class Framing { kNone, kLength, kChunked, kUntilEnd };

struct Head {
  int version = 11;  // 10: HTTP/1.0
  std::string method;  // of a request
  std::string target;
  int status = 0;  // of a response
  std::string reason;
  Headers headers;
};

// The size of the head at the beginning of `bytes`, with the empty line; absent while it is not all there. An error is
// anything that two readers could take for different things: a line that does not end in CRLF, one that continues
// another, blanks before a colon, control bytes, more than one blank in a request line, too much of anything.
Result<std::optional<std::size_t>> measure_head(std::string_view bytes, MessageKind kind);

// Refuses a head that gives no single answer to where the message ends: Content-Length twice or with Transfer-Encoding,
// a length that is no plain number, a transfer coding that is not chunked alone, any coding with HTTP/1.0.
Status check_framing(const Head& head);

bool same_name(std::string_view a, std::string_view b);  // without regard to case
const std::string* find_header(const Headers& headers, std::string_view name);  // the first
std::size_t count_headers(const Headers& headers, std::string_view name);
void remove_header(Headers& headers, std::string_view name);

// Whether a comma-separated list in any field of that name has the token.
bool has_token(const Headers& headers, std::string_view name, std::string_view token);

// A method, or the name of a field (RFC 9110, 5.6.2).
bool is_token(std::string_view text);
// What a field's value may be: no control bytes but tabs.
bool is_field_value(std::string_view text);

}  // namespace hutch::inspect

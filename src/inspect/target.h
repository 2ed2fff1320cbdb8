// The target of a request line: a path, or a whole URL as a proxy gets it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/head.h"
#include "wire/inspect.h"

namespace hutch::inspect {

struct RequestTarget {
  std::optional<std::string> authority;  // of a whole URL, always with its port
  std::string path;                      // with its query
};

// Refuses what names no host or several: no Host in HTTP/1.1, more than one, user information, another scheme.
Result<RequestTarget> read_target(const Head& head, const wire::Inspect& connection);

// What Host says of this connection: "example.com", "example.com:8080", "[::1]".
std::string host_field(const wire::Inspect& connection);

}  // namespace hutch::inspect

// One connection from its first byte to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "inspect/budget.h"
#include "inspect/judge.h"
#include "inspect/stream.h"
#include "inspect/tls.h"
#include "wire/inspect.h"

namespace hutch::inspect {

// The two sockets, borrowed.
struct Ends {
  int client = -1;
  int upstream = -1;
};

struct Transferred {
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
};

// What all connections share.
struct Common {
  const Tls& tls;
  Memory& memory;
};

// Returns when everything is said; the caller closes the sockets. `report` tells the gateway what was refused.
Transferred converse(const wire::Inspect& connection, const Ends& ends, const Common& common,
                     std::function<void(const Refusal&)> report);

// What every part of a conversation knows.
struct Conversation {
  const wire::Inspect& connection;
  Memory& memory;
  std::function<void(const Refusal&)> report;
  // Why nothing can be forwarded: what every request is answered.
  std::optional<Refusal> unusable;
};

// Serves requests of HTTP/1 until one side has enough; the streams are then at their end.
void serve_http1(const Conversation& conversation, Stream& client, Stream& upstream);

// The same with HTTP/2 on both.
void serve_http2(const Conversation& conversation, Stream& client, Stream& upstream);

}  // namespace hutch::inspect

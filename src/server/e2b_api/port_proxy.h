// A request for a port of a sandbox: carried to it by a process in there, and its answer back.
#pragma once

#include <optional>

#include "server/e2b/port_names.h"
#include "server/http/exchange.h"

namespace hutch::server {

// Serves it to the end of its connection. What is answered instead: the token is wrong, nobody listens at that port.
std::optional<http::Answer> serve_sandbox_port(http::Exchange& exchange, const http::SandboxPort& port);

}  // namespace hutch::server

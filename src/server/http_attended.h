// What a request does while its client may go.
#pragma once

#include <functional>
#include <stop_token>

#include "server/http_exchange.h"

namespace hutch::server::http {

// On another thread, while this one watches the client's connection: its end stops the work. Waits for the work's end
// in any case.
Result<Value> attended(Exchange& exchange, std::function<Result<Value>(const std::stop_token& stop)> work);

}  // namespace hutch::server::http

// What a request does while its client may go.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "sandbox/resident/resident.h"
#include "server/http/exchange.h"
#include "service/agent/sandbox.h"

namespace hutch::server::http {

// On another thread, while this one watches the client's connection: its end stops the work. Waits for the work's end
// in any case.
Result<Value> attended(Exchange& exchange, std::function<Result<Value>(const std::stop_token& stop)> work);

// The agent's sandbox, started where it does not run: not for a client that has gone, unless others wait for it too.
Result<std::shared_ptr<sandbox::Resident>> started(Exchange& exchange, service::AgentSandbox& agent);

}  // namespace hutch::server::http

// What a call does while its client may go.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "base/result.h"
#include "sandbox/resident/resident.h"
#include "server/rpc/session.h"
#include "service/agent/sandbox.h"

namespace hutch::server {

using AttendedWork = std::function<Result<Value>(const std::stop_token& stop)>;

// On another thread, while this one hears whether the client is still there: without it the work is told to stop. Its
// end is waited for in any case.
Result<Value> attended(Session& session, AttendedWork work);

// The agent's sandbox, started where it does not run: not for a client that has gone, unless others wait for it too.
Result<std::shared_ptr<sandbox::Resident>> started(Session& session, service::AgentSandbox& agent);

}  // namespace hutch::server

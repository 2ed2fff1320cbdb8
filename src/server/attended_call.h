// What a call does while its client may go.
#pragma once

#include <functional>
#include <stop_token>

#include "base/result.h"
#include "server/session.h"

namespace hutch::server {

using AttendedWork = std::function<Result<Value>(const std::stop_token& stop)>;

// On another thread, while this one hears whether the client is still there: without it the work is told to stop. Its
// end is waited for in any case.
Result<Value> attended(Session& session, AttendedWork work);

}  // namespace hutch::server

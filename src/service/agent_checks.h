// Whether an agent's settings can hold: judged when they are set, not when its sandbox is to start.
#pragma once

#include "base/result.h"
#include "store/agent_record.h"

namespace hutch::service {

// Of those that are not as in `before` by now.
Status check_settings(const store::AgentRecord& record, const store::AgentRecord& before);

}  // namespace hutch::service

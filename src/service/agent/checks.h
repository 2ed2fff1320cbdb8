// Whether an agent's settings can hold: judged when they are set, not when its sandbox is to start.
#pragma once

#include <vector>

#include <string>

#include "base/result.h"
#include "store/agent_record.h"

namespace hutch::service {

// Of those that are not as in `before` by now.
Status check_settings(const store::AgentRecord& record, const store::AgentRecord& before);

// Of an agent that is there for one session, or for one sandbox of a client's: an OS user of a person's would stay
// after it, and of these there are few (plan::kAgentsUsersMax).
Status check_passing_agent(const store::AgentRecord& record);

// What a person may not expect of the policy that the agent's record names; a line each.
std::vector<std::string> policy_notes(const store::AgentRecord& record);

}  // namespace hutch::service

// What the daemon shows of agents, the same to every kind of client.
#pragma once

#include "base/result.h"
#include "service/agents.h"
#include "tool/value.h"

namespace hutch::server {

// The record, and beside it status, reason, home and output.
Result<tool::Value> shown_value(const service::AgentService::Shown& shown);

}  // namespace hutch::server

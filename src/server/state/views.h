// What the daemon shows of agents, the same to every kind of client.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "service/agent/agents.h"
#include "tool/value.h"

namespace hutch::server {

// The record, and beside it status, reason, home and output.
Result<tool::Value> shown_value(service::AgentService& agents, const service::AgentService::Shown& shown);

// What is shown, with those notes and what a person may not expect of the record's policy as "notes", if there are any.
tool::Value with_notes(tool::Value shown, const store::AgentRecord& record, const std::vector<std::string>& notes);

// The same of one agent, with what its sandbox uses where it runs: its home is measured for that.
Result<tool::Value> shown_with_resources(service::AgentService& agents, const std::string& name);

}  // namespace hutch::server

// Where a plugin's command runs: in its agent's sandbox, or, where it may do less, in one of its own.
#pragma once

#include <string_view>

#include "base/result.h"
#include "plugin/recipe.h"
#include "service/agent/plugin_sandbox.h"
#include "service/agent/sandbox.h"
#include "store/agent_record.h"
#include "tool/place.h"

namespace hutch::service {

// Whether its permissions are fewer than what this agent's sandbox has: then nothing of it may run in that. The record
// as it is now.
bool needs_own_sandbox(const plugin::Recipe& recipe, const store::AgentRecord& agent);

// Of its set-up: the agent's network, where packages come from, and of all else what its tools have.
PluginRights setup_rights(const plugin::Recipe& recipe);
std::string setup_name(const std::string& plugin);  // of that sandbox
// The plugin's id, of its tools or of its set-up.
std::string_view plugin_of(const PluginRights& rights);

Result<tool::CommandEnd> run_beside(AgentSandbox& agent, const tool::Command& command);
Result<tool::CommandEnd> run_apart(AgentSandbox& agent, const PluginRights& rights, const tool::Command& command);
Result<tool::CommandEnd> run_in(AgentSandbox& agent, PluginSandbox& sandbox, const tool::Command& command);

}  // namespace hutch::service

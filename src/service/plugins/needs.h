// What recipes need of the host: in words for the person, who can give it, and for a model, which is told no way to.
#pragma once

#include <string>
#include <vector>

#include "plugin/recipe.h"
#include "store/agent_record.h"

namespace hutch::service {

// Each with what gives it on the agent's backend.
std::vector<std::string> need_lines(const plugin::Recipe& recipe, const store::AgentRecord& agent);
std::string need_line(const std::string& need, const store::AgentRecord& agent);
std::string need_for_model(const std::string& need);

// A command for /bin/sh that succeeds where the need is met; `home` is the person's.
std::vector<std::string> need_probe(const std::string& need, const std::string& home);

}  // namespace hutch::service

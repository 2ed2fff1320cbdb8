// What takes an agent's secrets out of what is shown of it, and what withholds all of that where they cannot be read.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "secret/scrubber.h"
#include "service/agent/agents.h"
#include "tool/value.h"

namespace hutch::service {

secret::Scrubber scrubber_of(AgentService& agents, const std::string& agent);

// Of what any agent may have written.
secret::Scrubber scrubber_of_all(AgentService& agents);

// Those of the members that are there, with all that is in them; the others are hutch's own words.
void scrub_members(const secret::Scrubber& scrubber, tool::Value::Object& object,
                   std::initializer_list<std::string_view> names);

}  // namespace hutch::service

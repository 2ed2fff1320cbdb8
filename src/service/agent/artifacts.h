// What agents have shared: recorded when it is, and read back held to that record.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "service/agent/sandbox.h"
#include "store/artifacts.h"
#include "tool/value.h"

namespace hutch::service {

// {name, size, sha256, type, description, shared}, of which the agent chose the name and the description.
tool::Value::Object shown_artifact(const secret::Scrubber& scrubber, const store::Artifact& artifact);

// All of it, in pieces, by the sandbox's own file server. The file is where its agent can change it, and only the end
// tells: Code::kConflict where it is not what was shared, and then what was taken is nobody's to use.
Status read_artifact(AgentSandbox& agent, const store::Artifact& artifact,
                     const std::function<Status(std::string_view piece)>& take);

}  // namespace hutch::service

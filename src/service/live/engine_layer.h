// What root of an agent's containers has installed: an image of the engine's, over the agent's own. It lasts until the
// agent is reset or removed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "service/common/package_hosts.h"
#include "service/image/layer_before.h"
#include "service/live/kept_sandbox.h"
#include "store/agent_record.h"

namespace hutch::service {

// The agent's own image: the one that it names, or the default.
std::string engine_image(const store::AgentRecord& agent);

struct EngineLayer {
  std::string image;
  std::vector<std::string> package_hosts;  // of the image below, as it was when the first package was installed
};

// Absent where nothing has been installed. Code::kConflict where the agent's image is another one by now.
Result<std::optional<EngineLayer>> engine_layer(const store::AgentRecord& agent);

// What a container of the agent's is to be kept as, over all that was kept before.
Result<backend::KeptRoot> next_engine_layer(const store::AgentRecord& agent,
                                            const std::vector<std::string>& package_hosts);

// What it was, until what is kept over it has shown that a container starts with it.
Result<LayerBefore> engine_layer_before(const store::AgentRecord& agent);

// The image's name; empty where there was none, or no engine is there to have it. No sandbox of the agent runs.
Result<std::string> remove_engine_layer(const store::AgentRecord& agent);

// Of a sandbox in which nothing has run yet.
ImageFiles files_in(KeptSandbox& fresh);

}  // namespace hutch::service

// HTTP on the bridge of one sandbox: whoever connects is that sandbox, whatever it says of itself.
#pragma once

#include "base/unique_fd.h"
#include "service/agent/sandbox.h"
#include "service/bridge/host_services.h"

namespace hutch::server {

// Until the client goes, or the socket is shut down.
// `plugin` is whose processes talk; null: the agent's own.
void serve_bridge(service::HostServices& services, service::AgentSandbox& agent, const service::PluginRights* plugin,
                  UniqueFd socket);

}  // namespace hutch::server

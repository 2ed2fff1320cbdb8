// A sandbox for one plugin.
#include "service/plugin_sandbox.h"

#include <algorithm>

namespace hutch::service {

PluginRights rights_of(const plugin::Recipe& recipe) {
  return {.plugin = recipe.id, .network = recipe.network, .inference = recipe.inference, .secrets = recipe.secrets};
}

bool may_have(const PluginRights& rights, const std::string& secret) {
  return std::ranges::find(rights.secrets, secret) != rights.secrets.end();
}

PluginSandbox::PluginSandbox(PluginRights rights, std::string bridge_directory, const std::string& backend,
                             AgentBridge::Serve serve, const MakeSettings& settings)
    : rights_(std::move(rights)),
      bridge_(std::move(bridge_directory), backend, std::move(serve)),
      kept_(settings(*this)) {}

}  // namespace hutch::service

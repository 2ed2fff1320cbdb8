// Where a plugin's command runs.
#include "service/plugins/run.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "service/agent/sandbox_place.h"

namespace hutch::service {

namespace {

// No id has a dot: the two sandboxes, of a version that is called and of one that is set up, are beside each other.
constexpr std::string_view kSetup = ".setup";

}  // namespace

bool needs_own_sandbox(const plugin::Recipe& recipe, const store::AgentRecord& agent) {
  const bool less_network = recipe.network.kind != plugin::NetworkPermission::Kind::kOfAgent;
  return less_network || (agent.inference && !recipe.inference);
}

std::string setup_name(const std::string& plugin) { return cat({plugin, kSetup}); }

PluginRights setup_rights(const plugin::Recipe& recipe) {
  PluginRights rights = rights_of(recipe);
  rights.plugin = setup_name(rights.plugin);
  rights.network = {.kind = plugin::NetworkPermission::Kind::kOfAgent};
  return rights;
}

std::string_view plugin_of(const PluginRights& rights) {
  const std::string_view id = rights.plugin;
  return id.substr(0, id.find('.'));
}

Result<tool::CommandEnd> run_beside(AgentSandbox& agent, const tool::Command& command) {
  SandboxPlace place(agent, command.timeout, command.stop);
  return place.run(command);
}

Result<tool::CommandEnd> run_apart(AgentSandbox& agent, const PluginRights& rights, const tool::Command& command) {
  const auto sandbox = TRY(agent.plugin_sandbox(rights));
  return run_in(agent, *sandbox, command);
}

Result<tool::CommandEnd> run_in(AgentSandbox& agent, PluginSandbox& sandbox, const tool::Command& command) {
  const auto resident = TRY(sandbox.kept().resident());
  const KeptSandbox::Terms terms = sandbox.kept().terms();
  sandbox::ProcessRequest request;
  request.arguments = command.arguments;
  request.environment = agent.plugin_environment(sandbox);
  std::ranges::copy(command.environment, std::back_inserter(request.environment));
  request.cwd = command.cwd;
  request.timeout = command.timeout;
  request.processes_max = terms.processes_max;
  request.address_space_max = terms.address_space_max;
  const auto process = TRY(resident->spawn(std::move(request), sandbox::Input::kNone));
  return await_command(command, process, resident, agent.secrets());
}

}  // namespace hutch::service

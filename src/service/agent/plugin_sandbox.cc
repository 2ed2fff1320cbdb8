// A sandbox for one plugin.
#include "service/agent/plugin_sandbox.h"

#include <algorithm>

namespace hutch::service {

PluginRights rights_of(const plugin::Recipe& recipe) {
  return {.plugin = recipe.id,
          .network = recipe.network,
          .inference = recipe.inference,
          .secrets = recipe.secrets,
          .emits = recipe.events.emit,
          .hears = recipe.events.subscribe};
}

bool may_have(const PluginRights& rights, const std::string& secret) {
  return std::ranges::find(rights.secrets, secret) != rights.secrets.end();
}

PluginSandbox::PluginSandbox(PluginRights rights, std::string bridge_directory, BackendKind backend,
                             AgentBridge::Serve serve, const MakeSettings& settings)
    : rights_(std::move(rights)),
      bridge_(std::move(bridge_directory), backend, std::move(serve)),
      kept_(settings(*this)) {}

// First the sandbox: it does not start again with a socket that is gone.
PluginSandbox::~PluginSandbox() {
  kept_.stop(KeptSandbox::After::kNever);
  bridge_.remove();
}

// What ends does so without the lock.
Result<std::shared_ptr<PluginSandbox>> PluginSandboxes::get(const PluginRights& rights, const Make& make) {
  std::shared_ptr<PluginSandbox> leaving;
  const std::scoped_lock lock(mutex_);
  if (retired_) return fail({Code::kConflict, 0, "the agent's sandbox has ended for good"});
  std::shared_ptr<PluginSandbox>& known = sandboxes_[rights.plugin];
  if (known && known->rights() == rights) return known;
  leaving = std::move(known);
  known = make();
  return known;
}

std::vector<std::shared_ptr<PluginSandbox>> PluginSandboxes::all() const {
  std::vector<std::shared_ptr<PluginSandbox>> found;
  const std::scoped_lock lock(mutex_);
  for (const auto& [plugin, sandbox] : sandboxes_) found.push_back(sandbox);
  return found;
}

void PluginSandboxes::end(const std::string& plugin) {
  std::shared_ptr<PluginSandbox> leaving;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = sandboxes_.find(plugin);
    if (found == sandboxes_.end()) return;
    leaving = std::move(found->second);
    sandboxes_.erase(found);
  }
  // Whoever waits for a command of it has it still.
  leaving->kept().stop(KeptSandbox::After::kNever);
  leaving->bridge().end();
}

void PluginSandboxes::end_all() {
  std::map<std::string, std::shared_ptr<PluginSandbox>> leaving;
  {
    const std::scoped_lock lock(mutex_);
    leaving.swap(sandboxes_);
  }
  // A call that is under way has its own still.
  for (const auto& [plugin, sandbox] : leaving) sandbox->kept().stop(KeptSandbox::After::kNever);
}

void PluginSandboxes::retire() {
  const std::scoped_lock lock(mutex_);
  retired_ = true;
}

}  // namespace hutch::service

// Packages of plugins that the agent's system lacks since a reset, or as another one: put back before a call.
#include <algorithm>
#include <chrono>
#include <stop_token>

#include "base/text.h"
#include "service/agent/secrets.h"
#include "service/agent/system.h"
#include "service/plugins/installation.h"
#include "service/plugins/plugins.h"

namespace hutch::service {

namespace {

using plugin::Install;
using plugin::State;

// For another installation's end. A model waits for its call, and a person for a reset.
constexpr std::chrono::seconds kTurnPatience{120};

// Also in another system than the one in which they were seen last; there they may all be.
bool lacks_packages(const Install& install, const AgentSandbox& agent) {
  if (install.state != State::kReady) return false;
  return install.lacks_packages ||
         (!install.recipe.dependencies.empty() && install.system != system_of(agent.record()));
}

bool has_own_system(const store::AgentRecord& agent) {
  return store::has_image(agent) || store::backend_kind(agent) == BackendKind::kContainer ||
         store::backend_kind(agent) == BackendKind::kVm;
}

}  // namespace

// Recorded before the system goes: a daemon that is killed meanwhile leaves too many marks, not too few.
Status Plugins::expect_reset(const std::string& agent, const std::stop_token& stop) {
  if (!has_own_system(TRY(agents_.show(agent)).record)) return {};
  const auto turn = TRY(turns_.take(agent, kTurnPatience, stop));
  for (const auto& install : TRY(installs_.of(agent))) {
    if (install->state != State::kReady || install->recipe.dependencies.empty()) continue;
    Install marked = *install;
    marked.lacks_packages = true;
    TRY(installs_.write(marked));
  }
  return {};
}

std::vector<std::string> Plugins::put_packages_back(const std::string& agent, const std::stop_token& stop) {
  std::vector<std::string> notes;
  const auto installs = installs_.of(agent);
  const auto sandbox = installs ? agents_.sandbox(agent) : fail(installs.error());
  if (!sandbox) return notes;
  for (const auto& install : *installs) {
    if (!lacks_packages(*install, **sandbox)) continue;
    const std::string& id = install->recipe.id;
    const auto use = uses_.begin(agent, id, stop);
    if (!use) continue;
    const Status done = put_back_for(**sandbox, id, **use);
    if (!done) notes.push_back(cat({"plugin ", id, " is being repaired: ", done.error().message}));
  }
  return notes;
}

Result<std::vector<std::string>> Plugins::reset_agent(const std::string& agent, const std::stop_token& stop) {
  TRY(expect_reset(agent, stop));
  TRY(agents_.reset(agent));
  // A call that came before the system was gone has found its packages there, and has taken the mark away.
  TRY(expect_reset(agent, {}));
  return put_packages_back(agent, stop);
}

Status Plugins::put_back_for(AgentSandbox& agent, const std::string& id, const PluginUses::Use& use) {
  const std::string& name = agent.record().name;
  const auto before = TRY(installs_.find(name, id));
  if (!before || !lacks_packages(*before, agent)) return {};
  const auto turn = TRY(turns_.take(name, kTurnPatience, use.stop()));
  // Another call may have done it meanwhile.
  const auto install = TRY(installs_.find(name, id));
  if (!install || !lacks_packages(*install, agent)) return {};
  const Wish wish{.agent = name, .recipe = install->recipe, .from = install->from, .stop = use.stop()};
  PluginInstallation installation(*this, agent, wish, use);
  return installation.put_packages_back(*install);
}

// A sandbox that does not start is not one without a package manager.
Status PluginInstallation::start_and_install_packages() {
  TRY_CTX(place_.run(command("true")), "start the agent's sandbox");
  return install_packages();
}

// The record keeps why it failed, for `hutch plugin list`.
Status PluginInstallation::put_packages_back(const Install& before) {
  const std::optional<std::uint64_t> era = install_.era;
  install_ = before;
  install_.era = era;
  std::erase_if(install_.log, [](const plugin::StepLog& step) { return step.step == "packages"; });
  install_.log.push_back({"packages", {}});
  const Status done = start_and_install_packages();
  install_.lacks_packages = !done;
  if (done) install_.system = system_of(agent_.record());
  install_.reason = done ? std::string() : agent_.secrets().scrubber()->scrub(done.error().message);
  TRY(save());
  return done;
}

}  // namespace hutch::service

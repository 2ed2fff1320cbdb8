// One installation of a plugin for an agent: its steps, each recorded before the next, and how they are undone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/installs.h"
#include "service/agent/sandbox_place.h"
#include "service/plugins/plugins.h"

namespace hutch::service {

// Its directory, as the sandbox sees it.
std::string plugin_directory(const tool::Layout& layout, std::string_view id);

class PluginInstallation {
 public:
  // `use` is the installation's own: its end is this one's.
  PluginInstallation(Plugins& plugins, AgentSandbox& agent, const Plugins::Wish& wish, const PluginUses::Use& use);

  Result<plugin::Install> run();
  // Of one that is ready: the step "packages" again, by itself.
  Status put_packages_back(const plugin::Install& before);
  std::optional<Plugins::Wish::Need> need() const { return need_; }  // of one that failed

 private:
  using Step = Status (PluginInstallation::*)();
  Status carry_out();
  Status find_before();
  Status start();
  Status find_user();
  Status install_packages();
  Status start_and_install_packages();
  Status make_files();
  Status find_secrets();
  Status set_up();
  Result<tool::CommandEnd> run_set_up(const tool::Command& setup);
  Status offer_tools();
  Status save();
  void note(std::string_view line);
  tool::Command command(std::string text) const;
  const plugin::Recipe& recipe() const { return install_.recipe; }

  Plugins& plugins_;
  AgentSandbox& agent_;
  const Plugins::Wish& wish_;
  const PluginUses::Use& use_;
  const std::stop_token stop_;
  plugin::Install install_;
  std::shared_ptr<const plugin::Install> before_;
  std::optional<Plugins::Wish::Need> need_{};
  SandboxPlace place_;
};

// Puts everything as it was before, its record included.
Status undo_install(Plugins& plugins, tool::Place& place, const plugin::Install& install);
// What an update that was killed once it was done had no time to remove.
Status forget_earlier(tool::Place& place, std::string_view id);
// Its directory and its record go.
Status finish_removal(Plugins& plugins, tool::Place& place, const plugin::Install& install);

// The variables that its setup and its tools have beside an agent's: its name, and its secrets.
Result<std::vector<std::string>> plugin_environment(AgentSandbox& agent, const plugin::Recipe& recipe,
                                                    const std::string& directory);

}  // namespace hutch::service

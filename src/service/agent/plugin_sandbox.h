// A sandbox beside an agent's for one plugin that may do less than the agent: the same files, less of the network, and
// a bridge of its own, by which the host knows its processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "plugin/recipe.h"
#include "service/agent/bridge.h"
#include "service/live/kept_sandbox.h"

namespace hutch::service {

// What processes of a plugin may, of what their agent may.
struct PluginRights {
  std::string plugin;
  plugin::NetworkPermission network;
  bool inference = false;
  std::vector<std::string> secrets;
  std::vector<std::string> emits{};   // types of events
  std::vector<std::string> hears{};  // likewise
  bool registries = false;  // also the package registries of this machine: of a set-up, where the person said so
  bool operator==(const PluginRights&) const = default;
};
PluginRights rights_of(const plugin::Recipe& recipe);
bool may_have(const PluginRights& rights, const std::string& secret);

// Any thread may use it.
class PluginSandbox {
 public:
  using MakeSettings = std::function<KeptSandboxSettings(PluginSandbox&)>;
  // `bridge_directory` is for its socket alone.
  PluginSandbox(PluginRights rights, std::string bridge_directory, BackendKind backend, AgentBridge::Serve serve,
                const MakeSettings& settings);
  ~PluginSandbox();

  const PluginRights& rights() const { return rights_; }
  AgentBridge& bridge() { return bridge_; }
  KeptSandbox& kept() { return kept_; }

 private:
  const PluginRights rights_;
  AgentBridge bridge_;
  KeptSandbox kept_;  // last: it ends before what its processes talk to
};

// Those of one agent. Any thread may use it.
class PluginSandboxes {
 public:
  using Make = std::function<std::shared_ptr<PluginSandbox>()>;
  // The one of a plugin with these rights: one with others ends. Code::kConflict once they have ended for good.
  Result<std::shared_ptr<PluginSandbox>> get(const PluginRights& rights, const Make& make);
  std::vector<std::shared_ptr<PluginSandbox>> all() const;
  std::uint64_t next_place() { return ++places_; }  // a number that no other sandbox of the agent's has
  void end(const std::string& plugin);
  void end_all();
  // No more are made. Those that are there go with this object: whoever calls may hold what their bridges wait for.
  void retire();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<PluginSandbox>> sandboxes_;
  bool retired_ = false;
  std::atomic<std::uint64_t> places_ = 0;
};

}  // namespace hutch::service

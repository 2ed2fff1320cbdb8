// What a sandbox may have of the host through the bridge: the story of each call, for the agent that the host knows.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bridge/call.h"
#include "service/agent/agents.h"
#include "service/plugins/plugins.h"
#include "service/share/bridge_shares.h"
#include "service/task/task.h"
#include "tool/limiters.h"

namespace hutch::service {

// What is answered: JSON, and the same as a shell wants it.
struct BridgeReply {
  std::string json = "{}";
  std::string text{};
};

// Any thread may use it.
class HostServices {
 public:
  using Tell = std::function<void(const std::string& line)>;
  HostServices(AgentService& agents, Tasks& tasks, Plugins& plugins, tool::RateLimiter& rates, Tell tell)
      : agents_(agents), tasks_(tasks), plugins_(plugins), rates_(rates), tell_(std::move(tell)) {}

  using Reply = std::expected<BridgeReply, bridge::Fault>;
  // All but kListen and kInference, which are streams.
  // `plugin` is whose processes ask, with what they may; null: the agent's own.
  Reply carry_out(AgentSandbox& agent, const PluginRights* plugin, const bridge::Call& call);
  // Counts the use, of a plugin that the host knows apart from its agent's: a fault where there were too many, and
  // where the plugin is none any more.
  std::expected<void, bridge::Fault> take_use(const AgentSandbox& agent, const PluginRights* plugin,
                                              bridge::Service service);
  // Of kInference: the model's text as it comes. A fault, be it after some of it, where it does not come whole.
  std::expected<void, bridge::Fault> infer(AgentSandbox& agent, const PluginRights* plugin, const bridge::Call& call,
                                           const std::function<Status(std::string_view text)>& on_text,
                                           const std::function<bool()>& is_gone);
  // What a connection has of the daemon, until it is dropped; a fault where all of the agent's have as much as they
  // may: a large body, while it is read and answered, and of a plugin's sandbox the connection itself.
  using Share = std::expected<std::shared_ptr<void>, bridge::Fault>;
  Share take_body(const AgentSandbox& agent, std::uint64_t bytes);
  Share take_connection(const AgentSandbox& agent);
  HostEvents& events() { return plugins_.events(); }
  void forget(const std::string& agent);

 private:
  std::unexpected<bridge::Fault> fault_of(const AgentSandbox& agent, const Error& error) const;
  Reply secret(AgentSandbox& agent, const bridge::Call& call);
  Reply make_plugin(AgentSandbox& agent, const bridge::Call& call);
  Reply try_plugin(AgentSandbox& agent, const bridge::Call& call);
  Reply config(AgentSandbox& agent, const PluginRights* plugin, const bridge::Call& call);
  Reply dispatch(AgentSandbox& agent, const bridge::Call& call);
  Reply query(AgentSandbox& agent, const bridge::Call& call);
  Reply store(AgentSandbox& agent, const bridge::Call& call);
  Reply log(AgentSandbox& agent, const PluginRights* plugin, const bridge::Call& call);

  AgentService& agents_;
  Tasks& tasks_;
  Plugins& plugins_;
  tool::RateLimiter& rates_;
  const Tell tell_;
  BridgeShares shares_;
};

}  // namespace hutch::service

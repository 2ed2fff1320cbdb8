// Plugins: the user's library of them, what each agent has installed, and their tools.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "plugin/library.h"
#include "service/agent/agents.h"
#include "service/plugins/events.h"
#include "service/plugins/host_events.h"
#include "service/plugins/removals.h"
#include "service/plugins/repairs.h"
#include "service/plugins/requests.h"
#include "service/plugins/turns.h"
#include "service/plugins/uses.h"
#include "tool/envelope.h"
#include "tool/limiters.h"
#include "tool/registry.h"

namespace hutch::service {

struct ToolCall;

// Any thread may use it. One installation of an agent at a time.
class Plugins {
 public:
  using Tell = std::function<void(const std::string& line)>;
  Plugins(AgentService& agents, tool::Limiters& limiters, Tell tell);

  // What a daemon that was killed was doing is undone, or, of a removal, done. Where that needs an agent's sandbox it
  // waits for its start; nothing else is installed meanwhile.
  void repair();

  plugin::Library& library() { return library_; }
  plugin::Installs& installs() { return installs_; }

  using Wish = PluginWish;
  // The eight steps, and the recipe in the library; over an earlier one of the same id it is an update. What fails
  // leaves things as they were, and the error says which step it was.
  Result<plugin::Install> install(const Wish& wish);
  // Its calls and installations that are under way end first. False where it was not installed.
  Result<bool> uninstall(const std::string& agent, const std::string& id);
  // Before an agent's system is reset. Its plugins then need their packages again, by the second or before a call.
  Status expect_reset(const std::string& agent, const std::stop_token& stop);
  std::vector<std::string> put_packages_back(const std::string& agent, const std::stop_token& stop);
  // Both, with the agent's reset between them.
  Result<std::vector<std::string>> reset_agent(const std::string& agent, const std::stop_token& stop);
  // The agents that have it, or for which it is being installed.
  Result<std::vector<std::string>> agents_of(const std::string& id);
  // Of several agents, one after another: one that does not answer keeps no other waiting for long.
  using Removed = RemovedPlugin;
  Removed uninstall_from(const std::vector<std::string>& agents, const std::string& id);
  void forget(const std::string& agent);  // it was removed

  // A plugin of the agent's own making: the recipe of {plugin_id, plugin_name, tools}. What is refused leaves nothing.
  using Made = PluginMade;
  std::expected<tool::Value::Object, tool::Envelope> make(const Made& made);
  // Of the files in ~/plugins/ID.
  tool::Envelope make_from_directory(const std::string& agent, const std::string& id, tool::Place& place,
                                     const std::stop_token& stop);
  // The text of a recipe that came over the bridge.
  std::expected<tool::Value::Object, tool::Envelope> make_from_text(const std::string& agent, const std::string& json);
  // The same recipe is tried out in a sandbox of nobody's, and nothing is kept: what came of it
  // (server/state/plugin_trial.h).
  std::expected<tool::Value, tool::Envelope> try_from_text(const std::string& agent, const std::string& json);
  std::expected<tool::Value, tool::Envelope> try_from_directory(AgentSandbox& agent, const std::string& id);
  using Trial = std::function<Result<tool::Value>(const plugin::Recipe& recipe)>;
  void try_by(Trial trial) { trial_ = std::move(trial); }  // before anybody asks

  using OfferedTool = OfferedPluginTool;
  // None where they cannot be read.
  std::vector<OfferedTool> offered(const AgentSandbox& agent);
  std::optional<OfferedTool> find_tool(const AgentSandbox& agent, const std::string& name);
  tool::Envelope call(AgentSandbox& agent, const OfferedTool& offered, const ToolCall& call);

  // Whether its sandbox, as it runs now, has had commands of a plugin that may use no model: some may have been left.
  bool has_run_without_model(const AgentSandbox& agent) const;

  // Of the agent's programs, of a plugin of its where one is named: told to whoever listens, and to the plugins that
  // hear of it, but for that one.
  void emit(AgentSandbox& agent, const std::string& plugin, std::string type, std::string payload);
  HostEvents& events() { return events_; }
  static tool::Value event_value(const HostEvent& event);  // for the agent's own programs
  static tool::Value shown_event(AgentSandbox& agent, const HostEvent& event);  // for anybody else

  // Its values of an agent: before each key.
  static std::string values_of(const std::string& id) { return "plugin/" + id + "/"; }
  // Code::kNotFound where the agent has no such plugin.
  Status set_value(const std::string& agent, const std::string& id, const std::string& key, const std::string& value);
  Status forget_values(const std::string& agent, const std::string& id);
  // Whether the agent has it, be it half installed; not while it is being removed.
  bool has(const std::string& agent, const std::string& id);

  // What can be told of it: {id, name, version, ...}.
  static tool::Value::Object entry_object(const plugin::Entry& entry);
  static tool::Value::Object install_object(const plugin::Install& install);

 private:
  friend class PluginInstallation;
  Status put_back_for(AgentSandbox& agent, const std::string& id, const PluginUses::Use& use);
  Result<plugin::Install> install_once(AgentSandbox& agent, const Wish& wish, const PluginUses::Use& use);
  Status check(const Wish& wish, const AgentSandbox& agent);
  Status repair_one(const plugin::Install& install, const std::stop_token& stop);
  bool repair_agent(const std::string& agent, const std::stop_token& stop);  // false where something is left
  bool repair_later(const std::string& agent, const std::stop_token& stop);
  void finish_rollbacks();
  Status spread_kept(const std::string& id);
  void say(const std::string& what, const Error& error) const;
  std::optional<tool::Envelope> refuse(const Made& made);
  std::expected<plugin::Recipe, tool::Envelope> recipe_of_directory(const std::string& id, tool::Place& place);
  std::expected<tool::Value, tool::Envelope> try_out(const Made& made);
  Result<std::vector<std::string>> hosts_for_set_up(AgentSandbox& agent);  // of a plugin that an agent made
  Status check_hosts(AgentSandbox& agent, const plugin::Recipe& recipe);
  tool::Envelope run(AgentSandbox& agent, const OfferedTool& offered, const ToolCall& call,
                     std::vector<std::string> more);
  Result<tool::CommandEnd> run_again(AgentSandbox& agent, const OfferedTool& offered, const tool::Command& command);
  Result<tool::CommandEnd> start(AgentSandbox& agent, const OfferedTool& offered, const tool::Command& command);
  bool is_still(const OfferedTool& offered);
  std::vector<std::string> tell_needs(AgentSandbox& agent, const OfferedTool& offered, const std::stop_token& stop);
  Result<tool::CommandEnd> beside(AgentSandbox& agent, const plugin::Recipe& recipe, const tool::Command& command);
  void note_beside(const AgentSandbox& agent, const plugin::Recipe& recipe);
  void hear(const PluginEvents::Due& due);

  AgentService& agents_;
  tool::Limiters& limiters_;
  const Tell tell_;
  plugin::Library library_;
  plugin::Installs installs_;
  Trial trial_;
  std::mutex trials_mutex_;
  std::set<std::string> trials_;  // agents that try one out
  PluginUses uses_;
  std::mutex values_mutex_;  // held while values of plugins are written
  PluginTurns turns_;
  std::mutex needs_mutex_;
  // By agent and plugin: the sandbox and the installation of which it was told what they lack.
  std::map<std::pair<std::string, std::string>, std::pair<std::weak_ptr<sandbox::Resident>, std::string>> needs_told_;
  mutable std::mutex beside_mutex_;
  std::map<std::string, std::weak_ptr<sandbox::Resident>> beside_;  // of which has_run_without_model() is true
  HostEvents events_;
  PluginEvents hearing_;  // it uses all of the above
  PluginRepairs repairs_;
  PluginRemovals removals_;  // last: likewise
};

}  // namespace hutch::service

// What is asked of plugins, and what they offer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "plugin/installs.h"
#include "plugin/recipe.h"

namespace hutch::service {

inline constexpr std::size_t kMadePluginsMax = 20;  // of an agent, by itself
// What Changed of an agent tells besides: an agent made a plugin, whose id is the reason.
inline constexpr std::string_view kPluginMade = "plugin";
// Likewise: a program of it told an event, which as JSON is the reason.
inline constexpr std::string_view kEmitted = "event";

// An installation.
struct PluginWish {
  std::string agent;
  plugin::Recipe recipe;
  std::string from;  // as Origin has it
  std::stop_token stop{};
  enum class By { kPerson, kAgent } by = By::kPerson;
  // An update is of what the agent has and the library knows, also once it is its turn.
  enum class Over { kAnything, kEarlierOne } over = Over::kAnything;
  // Each line of what its steps say.
  std::function<void(std::string_view step, std::string_view line)> on_step{};
  // kRegistries: the set-up also reaches this machine's package registries, as the person said.
  enum class SetUpNetwork { kOfAgent, kRegistries } set_up = SetUpNetwork::kOfAgent;
  // Called when it fails for want of something that the person can give.
  enum class Need { kSystem, kRegistries };
  std::function<void(Need need)> on_need{};
  // Asked once it is its turn: what was true before the wait may not be any more. Absent: it may.
  std::function<Status()> admit{};
};

// Of an installation or an update that a removal has overtaken.
inline Error removed_meanwhile() { return {Code::kConflict, 0, "the plugin was removed meanwhile"}; }

// A plugin of an agent's own making.
struct PluginMade {
  std::string agent;
  plugin::Recipe recipe;
  std::string via;  // agent_tool, host_bridge
  std::stop_token stop{};
};

struct OfferedPluginTool {
  std::shared_ptr<const plugin::Install> install;
  std::size_t index = 0;  // of its recipe's tools
  const plugin::Tool& tool() const { return install->recipe.tools[index]; }
  std::string name() const;
};

struct RemovedPlugin {
  std::vector<std::string> agents;
  std::vector<std::pair<std::string, std::string>> left;  // agents, and why it is not all gone
};

}  // namespace hutch::service

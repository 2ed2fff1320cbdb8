// What an agent's record says about its tools.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace hutch::tool {

enum class Permission { kNo, kYes };

struct AgentSettings {
  std::string name;
  Permission autonomous_exec = Permission::kNo;     // autonomousExec.enabled
  Permission plugin_create = Permission::kYes;      // autonomousExec.pluginCreate
  std::size_t commands_per_turn_max = 10;           // autonomousExec.maxCommandsPerTurn; 0: no limit
  std::chrono::seconds command_timeout{30};         // autonomousExec.commandTimeout: a default, never a cap
};

}  // namespace hutch::tool

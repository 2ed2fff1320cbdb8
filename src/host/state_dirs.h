// Where hutch keeps its configuration, data and sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace hutch::host {

struct StateDirs {
  std::string config;   // policies: default.json, projects.json
  std::string data;     // what happened
  std::string runtime;  // sockets
};

using EnvironmentLookup = std::function<std::optional<std::string>(const char*)>;

// Below $HUTCH_STATE where that is set. Else fixed ones for root, else the XDG base directories, of which a relative
// value counts as not set. They need not exist.
StateDirs state_dirs(std::uint32_t uid, const std::string& home, const EnvironmentLookup& lookup);

// Of this process.
StateDirs own_state_dirs(std::uint32_t uid, const std::string& home);

}  // namespace hutch::host

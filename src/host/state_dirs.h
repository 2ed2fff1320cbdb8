// Where hutch keeps its configuration, data and sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace hutch::host {

struct StateDirs {
  std::string config;   // policies: default.json, projects.json
  std::string data;     // what happened
  std::string runtime;  // sockets
};

using EnvironmentLookup = std::function<std::optional<std::string>(const char*)>;

// Below $HUTCH_STATE where that is an absolute path. Else fixed ones for root, else the XDG base directories, of which
// a relative value counts as not set. They need not exist.
StateDirs state_dirs(std::uint32_t uid, const std::string& home, const EnvironmentLookup& lookup);

// Of this process. A relative HUTCH_STATE is an error: what it means would change with the directory, and whoever set
// it wants no other's agents.
Result<StateDirs> own_state_dirs(std::uint32_t uid, const std::string& home);

}  // namespace hutch::host

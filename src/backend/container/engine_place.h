// Where the engine of containers listens: judged on the environment alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hutch::backend::container {

struct EngineEnvironment {
  std::string docker_host;        // DOCKER_HOST; empty: not set
  std::string runtime_directory;  // XDG_RUNTIME_DIR; empty: not set
  std::uint32_t uid = 0;
};

// Paths of sockets, best first. DOCKER_HOST alone where it is set: another engine is not what was asked for.
Result<std::vector<std::string>> engine_sockets(const EngineEnvironment& environment);

}  // namespace hutch::backend::container

// The engine of containers that listens on a Unix socket here: dockerd or podman, by the Docker Engine API.
#pragma once

#include <chrono>
#include <string>

#include "backend/container/engine_answers.h"
#include "backend/container/engine_place.h"

namespace hutch::backend::container {

class Engine {
 public:
  // The first socket where one listens. The error says what to type.
  static Result<Engine> find(const EngineEnvironment& environment);

  const std::string& socket() const { return socket_; }
  const EngineVersion& version() const { return version_; }
  Result<EngineInfo> info() const;

 private:
  // podman looks for its runtimes at its first request, which takes seconds on a busy machine.
  static constexpr std::chrono::seconds kPatience{30};

  explicit Engine(std::string socket) : socket_(std::move(socket)) {}
  // One connection for each: the engine may have been started anew since the last.
  Result<std::string> get(const std::string& target) const;

  std::string socket_;
  EngineVersion version_;
};

}  // namespace hutch::backend::container

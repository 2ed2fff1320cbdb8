// Backend `container`: an engine makes the place, the guest is its first process, and commands go to the guest.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/container/engine.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::backend::container {

// One container and the host's directory of the same name, in which it is known by: whoever finds the directory and
// not its owner removes both (remove_stale). Both go with it.
class Container {
 public:
  // The directory, with the stream's listener in it.
  static Result<Container> prepare(Engine engine, const std::string& directory);
  Container(Container&& other) noexcept = default;
  Container& operator=(Container&&) = delete;
  ~Container();

  const Engine& engine() const { return engine_; }
  const std::string& name() const { return name_; }
  const std::string& place() const { return place_; }
  std::string hidden_file() const;
  // Waits for the guest, which connects to the stream; nobody else finds its name afterwards.
  Result<UniqueFd> accept(const ContainerState& state);
  // Whether the container is gone is the answer; again is fine.
  Status remove();

 private:
  Container(Engine engine, std::string directory, std::string name);

  Engine engine_;
  std::string directory_;
  std::string name_;   // empty: it is removed
  std::string place_;  // what the container sees
  UniqueFd held_;      // tells that its owner lives
  UniqueFd listener_;
};

class ContainerBackend final : public Backend {
 public:
  struct Settings {
    EngineEnvironment environment;
    std::string directory;  // of hutch's own data: a directory for each container
    std::string owner;      // whose containers these are, for people who list them
  };
  explicit ContainerBackend(Settings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return "container"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;

 private:
  const Settings settings_;
};

// Removes the containers below the settings' directory whose owner is gone, and their directories, and those of the
// settings' owner that have none; what cannot be removed, as while no engine answers, is left for the next time. How
// many are gone.
Result<std::size_t> remove_stale(const ContainerBackend::Settings& settings);

}  // namespace hutch::backend::container

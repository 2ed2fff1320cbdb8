// Backend `bwrap`: bubblewrap makes the namespaces and the mounts, the guest inside does the rest.
#pragma once

#include <string>

#include "backend/backend.h"

namespace hutch::backend {

class BwrapBackend : public Backend {
 public:
  explicit BwrapBackend(std::string program) : program_(std::move(program)) {}
  std::string_view name() const override { return "bwrap"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;

 private:
  std::string program_;  // bwrap's path
};

}  // namespace hutch::backend

// Backend `bwrap`: bubblewrap makes the namespaces and the mounts, the guest inside does the rest.
#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"

namespace hutch::backend {

class BwrapBackend : public Backend {
 public:
  // `more` follows the plan's own arguments, as somebody who knows bubblewrap wrote them.
  explicit BwrapBackend(std::string program, std::vector<std::string> more = {})
      : program_(std::move(program)), more_(std::move(more)) {}
  std::string_view name() const override { return "bwrap"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;

 private:
  std::string program_;  // bwrap's path
  std::vector<std::string> more_;
};

}  // namespace hutch::backend

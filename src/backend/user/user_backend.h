// Backend `user`: the guest becomes another user of the machine, in namespaces that root makes for it.
#pragma once

#include "backend/backend.h"

namespace hutch::backend {

class UserBackend : public Backend {
 public:
  std::string_view name() const override { return "user"; }
  Guarantees guarantees() const override;
  // The plan's uid is not root's: CHECKed, since whoever made the plan has looked. By hutch-helper for anyone but root.
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;
};

}  // namespace hutch::backend

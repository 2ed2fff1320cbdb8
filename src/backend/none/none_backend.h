// Backend `none`: a plain process tree, a clean environment, no isolation.
#pragma once

#include "backend/backend.h"

namespace hutch::backend {

class NoneBackend : public Backend {
 public:
  std::string_view name() const override { return "none"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;
};

}  // namespace hutch::backend

// Backend `namespace`: the guest makes all seven namespaces and its root by itself.
#pragma once

#include "backend/backend.h"

namespace hutch::backend {

class NamespaceBackend : public Backend {
 public:
  std::string_view name() const override { return "namespace"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) const override;
};

}  // namespace hutch::backend

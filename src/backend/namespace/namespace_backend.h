// Backend `namespace`: the guest makes all seven namespaces and its root by itself.
#pragma once

#include <optional>
#include <string>

#include "backend/guest_process.h"

namespace hutch::backend {

class NamespaceBackend : public Backend {
 public:
  // Starts the guest already, which enters its namespaces while the plan is made, that of the network among them. It
  // runs nothing before `start`, and ends with this object.
  Status start_ahead(const std::string& guest_program);

  std::string_view name() const override { return "namespace"; }
  Guarantees guarantees() const override;
  Result<Instance> start(const plan::SandboxPlan& plan, const StartOptions& options) override;

 private:
  Result<Instance> start_beside(const plan::SandboxPlan& plan, const StartOptions& options);
  Status start_mapped(const plan::SandboxPlan& plan, const StartOptions& options);

  std::optional<GuestProcess> ahead_;
};

}  // namespace hutch::backend

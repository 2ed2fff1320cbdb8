// The parts of a start that every sandbox has, whether it is for one command or stays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/result.h"
#include "egress/core.h"
#include "host/machine/cgroup.h"
#include "plan/facts.h"
#include "plan/filter/seccomp.h"
#include "plan/plan.h"
#include "service/prepare/prepare.h"

namespace hutch::service {

// `bwrap_arguments` are for bwrap alone, behind those of the plan.
Result<std::unique_ptr<backend::Backend>> make_backend(BackendKind kind, std::vector<std::string> bwrap_arguments = {});

// How the limits of a plan are held here.
struct Holding {
  std::optional<host::Cgroup> cgroup;
  std::uint64_t processes_max = 0;  // by rlimits, where there is no cgroup
  std::uint64_t address_space_max = 0;
  std::string by;  // as a person is told; empty: nothing is limited
};
// `shared`: with whose sandboxes they are held together, where a cgroup of hutch's holds them; null: by itself.
Result<Holding> hold_limits(const Prepared& prepared, const plan::HostFacts& facts,
                            host::SharedCgroup* shared = nullptr);

// For a plan whose network is NetworkKind::kGateway. hutch-inspect lies beside hutch-guest.
egress::Settings gateway_settings(const Prepared& prepared, const std::string& guest_program);

}  // namespace hutch::service

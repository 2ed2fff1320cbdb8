// A sandbox in a virtual machine: who its commands are there, and what of a policy has no meaning in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/common/load_policy.h"
#include "service/common/prepared.h"
#include "service/common/request.h"
#include "service/os_user/os_user.h"
#include "store/agent_record.h"
#include "store/machine_settings.h"

namespace hutch::service {

// Where commands start there, as hutch-guest makes it (guest/machine/machine.cc).
inline constexpr std::string_view kMachineHome = "/workspace";

// Of this machine's files only an agent's own directories are there, so that what may not be read or written is not.
// Code::kUnsupported for what is to be there: a path that a request or a file of the user's allows, an image, a host.
// `residence` is the agent's, which has its directories there; null: a command's alone.
Result<OsUserPlace> machine_place(const LoadedPolicy& loaded, const PlaceRequest& request, const plan::HostFacts& facts,
                                  const Residence* residence);

// Names of settings that a machine which was started by `started` does not have as they are `now`: it has them from its
// next start on. What `limits` say of it holds in their place.
std::vector<std::string> pending_settings(const store::MachineSettings& started, const store::MachineSettings& now,
                                          const store::AgentLimits& limits);

// Of backend vm: sandbox.json may have it that machines have no network, whatever policies allow.
Status settle_machine_network(policy::BackendKind backend, policy::Network& network, const plan::HostFacts& facts);

}  // namespace hutch::service

// A sandbox that is an OS user: who it is on this machine, and what of a policy that backend cannot hold.
#pragma once

#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "policy/policy.h"
#include "service/common/load_policy.h"
#include "service/common/request.h"

namespace hutch::service {

struct OsUserPlace {
  plan::HostFacts facts;  // the machine's, with that user in the place of the caller
  plan::OsUserInput input;
  std::string note{};  // what a person is told; empty: nothing
};

// The OS user that `agent`, or with none a command, of this person is to be: hutch init makes them.
Result<std::string> own_os_user(std::uint32_t person, const std::string& agent);

// Code::kUnsupported with the remedy where it is not there, or root has not let this person be it.
Status check_os_user(const std::string& name, const std::string& agent, const plan::HostFacts& facts);

// The same for an agent's, which is made where it is not there and root has let this person have such ones made.
Status ensure_os_user(const std::string& name, const std::string& agent, const plan::HostFacts& facts);

// The same, and where the policy or the request has a rule about files: those are for the kernel to judge.
Result<OsUserPlace> os_user_place(const std::string& name, const std::string& agent, const LoadedPolicy& loaded,
                                  const PlaceRequest& request, const plan::HostFacts& facts);

// What of a policy's network that backend cannot give or hold: sockets of the host, and any rule where the policy
// leaves the network open.
Status check_os_user_network(const policy::Network& network);

}  // namespace hutch::service

// The messages about a sandbox's supervisor of file changes, and about calls that were refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace hutch::wire {

// --- to the guest ---

// The first and only message to an access supervisor.
struct AccessRules {
  std::vector<plan::NameRule> names;
};

// --- to the host ---

enum class RefusedCall { kUnixSocket, kFileChange };
// A call was refused that a person should be told of.
struct Refused {
  RefusedCall call = RefusedCall::kUnixSocket;
  std::uint32_t pid = 0;
  std::string path;  // kFileChange
  std::string rule;
};
// The sandbox wants its supervisor of file changes (guest/access.h). Along travel: where the calls arrive, the writable
// copy of its tree of mounts, its user namespace, its mount namespace.
struct Supervise {};

}  // namespace hutch::wire

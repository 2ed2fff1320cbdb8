// What a kind of sandbox of a pool is on this machine: the user's policy, narrowed to an empty directory of its own.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "host/state_dirs.h"
#include "plan/facts.h"
#include "policy/policy.h"
#include "sandbox/pool/spec.h"
#include "service/prepare/prepare.h"

namespace hutch::service {

// Where its commands start, and their home: empty and its own, and gone with it.
inline constexpr const char* kPoolHome = "/workspace";

struct PoolHost {
  host::StateDirs dirs;
  std::string guest_program;
  std::function<void(const std::string& line)> tell;
  std::function<std::stop_token()> stop{};  // ends a build of an image that begins now; any thread
};

// Where a kind has the host's network: an error where a rule of the policy, or a list of hosts, would hold nothing
// there.
Status check_pool_network(const policy::Network& network, const sandbox::PoolSpec& spec);

// Nothing of the host is writable but what is mounted; the network is that of the trust.
void narrow(policy::Policy& policy, const sandbox::PoolSpec& spec);

// A digest of what the user's policies say now. A sandbox that was judged by others is of another kind.
Result<std::string> policy_digest(const PoolHost& host);

// The mounts with their host's paths as they really are. What no sandbox may be shown is an error, and so is a place
// that is the system's.
Result<std::vector<sandbox::PoolMount>> settle_mounts(std::vector<sandbox::PoolMount> mounts);

Result<Judged> judge_pooled(const sandbox::PoolSpec& spec, const PoolHost& host, const std::stop_token& stop);

}  // namespace hutch::service

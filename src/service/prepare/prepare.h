// prepare: what was asked for and what this machine is become a policy, its rules and a plan. Starts nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/paths/paths.h"
#include "plan/facts.h"
#include "plan/make/make_plan.h"
#include "plan/paths/name_files.h"
#include "plan/plan.h"
#include "policy/policy.h"
#include "policy/rules.h"
#include "sandbox/run/widener.h"
#include "service/common/load_policy.h"
#include "service/common/prepared.h"
#include "service/common/request.h"

namespace hutch::service {

// The request's, or those of an agent's settings as they are now; with the usual hosts where there are rules.
policy::NetworkOptions network_options(const PlaceRequest& request, const policy::Network& network);

// Everything judged and nothing started.
struct Judged {
  plan::HostFacts facts;
  Prepared prepared;
  std::string guest_program;
  std::vector<std::string> bwrap_arguments{};  // of backend bwrap alone, behind the plan's
  PlaceRequest place{};  // what was judged
  UniqueFd given_root{};  // of a plan that begins with one
  std::optional<sandbox::JoinedNamespaces> beside{};  // of the sandbox that is joined
};

// The backend called `name`, which `where` gave: a key or an option. kInvalidArgument for an unknown name, kUnsupported
// for a backend that only other systems have.
Result<BackendKind> find_backend(std::string_view where, std::string_view name);

// The backend that a request gets by a policy; fails as find_backend() does.
Result<BackendKind> backend_of(const PlaceRequest& request, const policy::Policy& policy);

// A policy's network as a request makes it: with its options, and the paths in it absolute.
Status settle_network(policy::Network& network, const policy::NetworkOptions& options, const plan::HostFacts& facts,
                      const std::string& project);

// The rules about files as a start would have them now.
struct FilesNow {
  host::PathAnswer found;  // the rules, and what is at their paths
  plan::GuardedNames names;
};
Result<FilesNow> file_rules(const PlaceRequest& request, const plan::HostFacts& facts, const LoadedPolicy& loaded);
// Likewise, by the policy as it is saved.
Result<FilesNow> files_now(const PlaceRequest& request, const plan::HostFacts& facts,
                           const std::vector<std::string>& environment);

Result<Prepared> prepare(const PlaceRequest& request, const plan::HostFacts& facts, const Caller& caller);

}  // namespace hutch::service

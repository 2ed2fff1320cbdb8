// Options of a sandbox, looked at once: what is wrong with them is told before anything starts.
#pragma once

#include <hutch/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"
#include "service/common/request.h"

namespace hutch::api {

struct Settled {
  std::string id;
  std::string working_directory;  // absolute
  policy::Policy policy;
  policy::BackendKind backend = policy::kBackendDefault;  // as it will be
  std::string guest_program;
  service::PlaceRequest place;
  std::string seatbelt_profile;  // absolute; empty: none is wanted
};

Result<Settled> settle(const SandboxOptions& options);

// "K=V" each; a name or a value that no environment can hold is an error.
Result<std::vector<std::string>> environment_of(const std::map<std::string, std::string>& variables);

}  // namespace hutch::api

// Which policy a request is under: the one it brings, the file it names, the project's, the user's default, the
// built-in.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "plan/facts.h"
#include "policy/policy.h"
#include "service/common/request.h"

namespace hutch::service {

struct LoadedPolicy {
  policy::Policy policy;
  std::string project;             // canonical: what relative entries are resolved against
  std::vector<std::string> files;  // what was read; never writable inside
};

// `environment` is the caller's, "K=V" each: it says where the configuration lies.
Result<LoadedPolicy> load_policy(const PlaceRequest& request, const plan::HostFacts& facts,
                                 const std::vector<std::string>& environment);

// Where default.json and projects.json are for that caller.
std::string config_directory(const plan::HostFacts& facts, const std::vector<std::string>& environment);

}  // namespace hutch::service

// The file tree of a sandbox: which mounts make what the rules say.
#pragma once

#include <string>
#include <vector>

#include "plan/make_plan.h"

namespace hutch::plan {

struct MountTree {
  std::vector<MountStep> steps;       // in the order in which they are to be made
  std::vector<std::string> writable;  // mounts that the sandbox may write
};

MountTree plan_mounts(const PlanInput& input);

}  // namespace hutch::plan

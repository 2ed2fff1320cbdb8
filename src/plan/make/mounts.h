// The file tree of a sandbox: which mounts make what the rules say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/make/make_plan.h"

namespace hutch::plan {

struct MountTree {
  std::vector<MountStep> steps;       // in the order in which they are to be made
  std::vector<std::string> writable;  // mounts that the sandbox may write
  std::vector<std::string> hidden;    // paths that rules hide
  bool has_typed_cwd = false;         // the sandbox has each link of PlanInput::typed_cwd
};

MountTree plan_mounts(const PlanInput& input);

// What hides `path`, where the host's own is seen now: the first step covers it, the others are in it.
MountTree plan_cover(const PlanInput& input, const std::string& path);

// The mount of the private home, which covers a hidden home of the host; null if there is none.
const MountStep* private_home(const SandboxPlan& plan, std::string_view home);

// Whether the path lies in the private home, and not in another mount there.
bool is_in_private_home(const SandboxPlan& plan, std::string_view home, std::string_view path);

// With an image: whether what the rule allows is the host's. A rule names a place of the user's or the project's; one
// about the whole system, or a part of it that an image has itself, is about what is not there.
bool shows_host(const policy::Rule& rule);

}  // namespace hutch::plan

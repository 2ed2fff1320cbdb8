// What has to be mounted for a sandbox that runs to see something of the host no longer.
#pragma once

#include <string>
#include <vector>

#include "plan/make/make_plan.h"

namespace hutch::plan {

struct Hiding {
  std::string path;  // canonical, on the host
  // The first one covers the place, where the host's file has to be its identity. Those behind it are in that cover:
  // of a kBind the source is what the sandbox sees there by then, which stays.
  std::vector<MountStep> steps;
  bool operator==(const Hiding&) const = default;
};

// What a denyRead of `now.rules` hides that `before`, the rules at the start, showed, and what is there. In the order
// of paths: what is seen in another one of them all the same is covered there as well.
std::vector<Hiding> plan_hiding(const PlanInput& now, const std::vector<policy::Rule>& before);

// Those places as the supervisor has to refuse them, whether anything is there or not: nothing is made at a name, and
// nothing that it is in is moved.
std::vector<NameRule> hidden_names(const std::vector<policy::Rule>& now, const std::vector<policy::Rule>& before);

// A file at the path or below it of which the sandbox has a copy (plan/paths/checked_files.h): its content stays
// readable until the sandbox ends. Empty if there is none.
std::string copied_below(const SandboxPlan& plan, const std::string& path);

}  // namespace hutch::plan

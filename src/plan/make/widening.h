// What has to be mounted for a sandbox that runs to see, or to change, one more place of the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/make/make_plan.h"

namespace hutch::plan {

struct Widening {
  std::string at;                 // where the sandbox sees it; as a rule the place itself
  std::vector<MountStep>
      steps;   // the first one binds the place on itself; those behind it cover what stays closed in it
  std::vector<std::string> own;   // file systems of the sandbox's own
};

// `path` is canonical and `seen` what is there: a file or a directory. The rules of `input` hold for everything below
// it that they are about. kReadWrite: the place is for the supervisor to change things in, not to be seen.
Widening plan_widening(const PlanInput& input, const SandboxPlan& present, const SeenPath& seen, Access access);

// Whether a name is the host's there, seen or hidden. With an image only what is below a place that a rule names, and
// the home: what else it has is its own.
bool is_of_host(const SandboxPlan& plan, std::string_view path);

}  // namespace hutch::plan

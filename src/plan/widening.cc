// What has to be mounted for a sandbox that runs to see one more place of the host.
#include "plan/widening.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/mounts.h"

namespace hutch::plan {

namespace {

// With what was granted, as if it had been so from the start.
MountTree tree_with(const PlanInput& input, const SeenPath& seen, Access access) {
  std::vector<policy::Rule> rules = input.rules;
  const auto add = [&](policy::Verb verb) {
    rules.push_back({.verb = verb, .origin = policy::Origin::kOption, .path = seen.path, .text = seen.path});
  };
  add(policy::Verb::kAllowRead);
  if (access == Access::kReadWrite) add(policy::Verb::kAllowWrite);
  PathFacts paths = input.paths;
  std::erase_if(paths.seen, [&](const SeenPath& other) { return other.path == seen.path; });
  paths.seen.insert(std::ranges::upper_bound(paths.seen, seen.path, {}, &SeenPath::path), seen);
  const PlanInput wider{.policy = input.policy,
                        .rules = rules,
                        .facts = input.facts,
                        .paths = paths,
                        .project = input.project,
                        .cwd = input.cwd,
                        .limits = input.limits,
                        .caller_environment = {},
                        .environment = {}};
  return plan_mounts(wider);
}

bool is_shown_there(const SandboxPlan& present, const MountStep& step) {
  return step.kind == MountKind::kBind ||
         std::ranges::find(present.landlock.writable, step.target) != present.landlock.writable.end();
}

}  // namespace

Widening plan_widening(const PlanInput& input, const SandboxPlan& present, const SeenPath& seen, Access access) {
  Widening widening;
  for (const MountStep& step : present.mounts) {
    if (step.kind == MountKind::kTmpfs) widening.own.push_back(step.target);
    const bool below = step.target != seen.path && is_within(step.target, seen.path);
    const auto in_kept = [&](const std::string& kept) { return is_within(step.target, kept); };
    if (!below || !is_shown_there(present, step) || std::ranges::any_of(widening.kept, in_kept)) continue;
    widening.kept.push_back(step.target);
  }
  if (access == Access::kReadWrite) widening.kept.clear();
  MountStep place{
      .kind = MountKind::kBind, .target = seen.path, .source = seen.path, .access = access, .identity = seen.identity};
  widening.at = seen.path;
  widening.steps.push_back(std::move(place));
  for (MountStep& step : tree_with(input, seen, access).steps) {
    if (step.target == seen.path || !is_within(step.target, seen.path)) continue;
    const auto holds = [&](const std::string& kept) { return is_within(step.target, kept); };
    if (std::ranges::any_of(widening.kept, holds)) continue;
    widening.steps.push_back(std::move(step));
  }
  return widening;
}

}  // namespace hutch::plan

// What has to be mounted for a sandbox that runs to see one more place of the host.
#include "plan/make/widening.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/make/mounts.h"

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

}  // namespace

Widening plan_widening(const PlanInput& input, const SandboxPlan& present, const SeenPath& seen, Access access) {
  Widening widening;
  for (const MountStep& step : present.mounts) {
    if (step.kind == MountKind::kTmpfs) widening.own.push_back(step.target);
  }
  MountStep place{
      .kind = MountKind::kBind, .target = seen.path, .source = seen.path, .access = access, .identity = seen.identity};
  widening.at = seen.path;
  widening.steps.push_back(std::move(place));
  for (MountStep& step : tree_with(input, seen, access).steps) {
    if (step.target != seen.path && is_within(step.target, seen.path)) widening.steps.push_back(std::move(step));
  }
  return widening;
}

bool is_of_host(const SandboxPlan& plan, std::string_view path) {
  if (plan.mounts.empty() || plan.mounts.front().kind != MountKind::kImage) return true;
  const auto shows = [&](const MountStep& step) {
    return step.kind == MountKind::kBind && step.source == step.target && is_within(path, step.target);
  };
  const auto hides = [&](const std::string& place) { return is_within(path, place); };
  return std::ranges::any_of(plan.mounts, shows) || std::ranges::any_of(plan.hidden, hides);
}

}  // namespace hutch::plan

// What has to be mounted for a sandbox that runs to see something of the host no longer.
#include "plan/make/hiding.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/make/mounts.h"
#include "plan/paths/checked_files.h"
#include "policy/decide.h"
#include "policy/glob.h"

namespace hutch::plan {

namespace {

using policy::Rule;
using policy::View;

View view_of(const std::vector<Rule>& rules, std::string_view path) {
  return policy::decide(rules, policy::Access::kRead, path).view;
}

bool shows_host_at(const std::vector<Rule>& rules, std::string_view path) {
  const View view = view_of(rules, path);
  return view == View::kReadOnly || view == View::kReadWrite;
}

bool is_hidden_now(const std::vector<Rule>& now, const std::vector<Rule>& before, std::string_view path) {
  return view_of(now, path) == View::kHidden && shows_host_at(before, path);
}

// Of the rules that came since: one that was there had its say at the start.
std::vector<const Rule*> new_denials(const std::vector<Rule>& now, const std::vector<Rule>& before) {
  std::vector<const Rule*> found;
  for (const Rule& rule : now) {
    const auto is_it = [&](const Rule& other) { return other.verb == rule.verb && other.path == rule.path; };
    if (rule.verb != policy::Verb::kDenyRead || std::ranges::any_of(before, is_it)) continue;
    if (is_hidden_now(now, before, rule.path)) found.push_back(&rule);
  }
  std::ranges::sort(found, {}, &Rule::path);
  const auto repeated = std::ranges::unique(found, {}, &Rule::path);
  found.erase(repeated.begin(), repeated.end());
  return found;
}

// Over something that is there.
bool covers(const MountStep& step) {
  const bool mounts =
      step.kind == MountKind::kHideFile || step.kind == MountKind::kTmpfs || step.kind == MountKind::kBind;
  return mounts && step.make == MakeTarget::kNothing;
}

// What is left visible in a cover is what the sandbox has there, with all that is mounted in it: of the mounts in that
// only those are to be made that hide what was not hidden yet.
std::vector<MountStep> steps_of(const PlanInput& now, const std::vector<Rule>& before, const std::string& path) {
  std::vector<MountStep> steps;
  std::vector<std::string> kept;
  const auto is_kept = [&](const MountStep& step) {
    return std::ranges::any_of(kept, [&](const std::string& one) { return is_within(step.target, one); });
  };
  for (MountStep& step : plan_cover(now, path).steps) {
    if (is_kept(step)) continue;
    const View then = view_of(before, step.target);
    const bool was_there = then != View::kHidden;
    if (covers(step) && !is_hidden_now(now.rules, before, step.target)) {
      kept.push_back(step.target);
      continue;
    }
    const bool is_made = step.make != MakeTarget::kNothing || step.kind == MountKind::kDirectory;
    const bool is_home = is_made && step.target == now.facts.home && then == View::kHidden;
    if (is_home) kept.push_back(step.target);
    const bool is_own = step.kind == MountKind::kTmpfs && is_made && then == View::kPrivate;
    if (is_own || is_home) {
      step = {.kind = MountKind::kBind, .target = step.target, .source = step.target, .make = MakeTarget::kDirectory};
    } else if (step.kind == MountKind::kBind && !was_there) {
      kept.push_back(step.target);
      continue;
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::vector<Hiding> plan_hiding(const PlanInput& now, const std::vector<Rule>& before) {
  std::vector<Hiding> hidings;
  for (const Rule* rule : new_denials(now.rules, before)) {
    const SeenPath* seen = now.paths.find(rule->path);
    const bool is_there = seen != nullptr && seen->type != FileType::kAbsent && seen->type != FileType::kSymlink;
    if (is_there) hidings.push_back({rule->path, steps_of(now, before, rule->path)});
  }
  return hidings;
}

std::string copied_below(const SandboxPlan& plan, const std::string& path) {
  const std::string begin = cat({kTrustDirectory, "/", kCopyPrefix});
  const auto is_copied = [&](const MountStep& step) {
    return step.kind == MountKind::kCover && step.source.starts_with(begin) && is_within(step.target, path);
  };
  const auto found = std::ranges::find_if(plan.mounts, is_copied);
  return found == plan.mounts.end() ? std::string() : found->target;
}

std::vector<NameRule> hidden_names(const std::vector<Rule>& now, const std::vector<Rule>& before) {
  std::vector<NameRule> names;
  for (const Rule* rule : new_denials(now, before)) {
    NameRule name{policy::escape_wildcards(rule->path), policy::describe(*rule), {}, {}};
    for (const Rule& other : now) {
      const bool allows = other.verb == policy::Verb::kAllowRead || other.verb == policy::Verb::kAllowWrite;
      const bool opens = allows && is_within(other.path, rule->path);
      if (opens && view_of(now, other.path) == View::kReadWrite) name.lifted.push_back(other.path);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace hutch::plan

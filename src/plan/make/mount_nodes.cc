// The paths that rules name, in the order in which hutch plans their mounts.
#include "plan/make/mount_nodes.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/make/mounts.h"
#include "plan/paths/names.h"

namespace hutch::plan {

namespace {

int rank_in_path(char character) { return character == '/' ? 0 : static_cast<unsigned char>(character) + 1; }

}  // namespace

bool PathOrder::operator()(std::string_view a, std::string_view b) const {
  return std::ranges::lexicographical_compare(a, b, {}, rank_in_path, rank_in_path);
}

std::vector<const policy::Rule*> in_path_order(const std::vector<policy::Rule>& rules) {
  std::vector<const policy::Rule*> order;
  order.reserve(rules.size());
  for (const policy::Rule& rule : rules) order.push_back(&rule);
  std::ranges::sort(order, PathOrder(), [](const policy::Rule* rule) { return std::string_view(rule->path); });
  return order;
}

bool is_held_by_name(const policy::Rule& rule, Supervision supervision) {
  if (supervision != Supervision::kNames || rule.verb != policy::Verb::kDenyWrite) return false;
  if (rule.held_by == policy::Rule::HeldBy::kNames) return true;
  return rule.origin == policy::Origin::kRepository || is_kept_config(rule) || is_kept_file(rule);
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string_view::npos ? std::string_view("/") : path.substr(0, slash);
}

bool is_of_shares(const std::vector<Share>& shares, const std::string& name) {
  return std::ranges::any_of(shares, [&](const Share& share) { return is_within(share.target, cat({"/", name})); });
}

bool is_own_place(std::string_view path) {
  static constexpr std::array<std::string_view, 5> kPlaces = {"/proc", "/sys", "/dev", "/tmp", "/run"};
  return std::ranges::any_of(kPlaces, [&](std::string_view place) { return is_within(path, place); });
}

Shown shown_at(const PlanInput& input, const std::string& target) {
  const policy::View view = policy::decide(input.rules, policy::Access::kRead, target).view;
  if (view == policy::View::kPrivate) return Shown::kPrivate;
  const SeenPath* seen = input.paths.find(target);
  const bool fits = seen != nullptr && (seen->type == FileType::kFile || seen->type == FileType::kOther);
  const bool is_visible = view == policy::View::kReadOnly || view == policy::View::kReadWrite;
  return fits && is_visible ? Shown::kHosts : Shown::kNothing;
}

void add_account(std::vector<MountStep>& steps, const std::string& name, std::uint32_t user, std::uint32_t group,
                 const std::string& home) {
  const std::string gid = std::to_string(group);
  const std::string line = cat({name, ":x:", std::to_string(user), ":", gid, "::", home, ":/bin/sh"});
  steps.push_back({.kind = MountKind::kAccount, .target = "/etc/passwd", .source = line});
  steps.push_back({.kind = MountKind::kAccount, .target = "/etc/group", .source = cat({name, ":x:", gid, ":"})});
}

std::uint64_t bytes_of(const std::vector<CoveredFile>& files) {
  static constexpr std::uint64_t kPageBytes = 64 << 10;  // the largest page of any architecture
  std::uint64_t bytes = 0;
  for (const CoveredFile& file : files) bytes += (file.content.size() / kPageBytes + 2) * kPageBytes;
  return bytes;
}

std::string closed_above(std::string_view project, std::string_view home) {
  if (project == home || !is_within(project, home)) return {};
  const std::string_view below = project.substr(home.size() + 1);
  const std::size_t slash = below.find('/');
  if (slash == std::string_view::npos || below.starts_with('.')) return {};
  return cat({home, "/", below.substr(0, slash)});
}

const MountStep* private_home(const SandboxPlan& plan, std::string_view home) {
  const auto is_it = [&](const MountStep& step) {
    return step.kind == MountKind::kTmpfs && step.target == home && step.mode == kPrivateMode;
  };
  const auto found = std::ranges::find_if(plan.mounts, is_it);
  return found == plan.mounts.end() ? nullptr : &*found;
}

bool is_in_private_home(const SandboxPlan& plan, std::string_view home, std::string_view path) {
  const MountStep* own = private_home(plan, home);
  if (own == nullptr || !is_within(path, own->target)) return false;
  return std::ranges::none_of(plan.mounts, [&](const MountStep& step) {
    const bool mounts = step.kind == MountKind::kTmpfs || step.kind == MountKind::kBind;
    return mounts && step.target != own->target && is_within(step.target, own->target) && is_within(path, step.target);
  });
}

}  // namespace hutch::plan

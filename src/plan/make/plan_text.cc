// A plan as a person reads it.
#include "plan/make/plan_text.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "plan/quotas.h"

namespace hutch::plan {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLabelWidth = 10;

void line(std::string& out, std::string_view label, std::string_view text);
void list(std::string& out, std::string_view label, const std::vector<std::string>& items);
std::string labelled(std::string_view label, std::string_view text);
std::string octal(unsigned mode);
std::string limits_text(const ResourceLimits& limits);
std::string shares_text(const SandboxPlan& plan);
std::string duration_text(milliseconds duration);
std::string cpus_text(std::uint64_t millis);

}  // namespace

std::string_view network_name(NetworkKind kind) {
  switch (kind) {
    case NetworkKind::kNone: return "none";
    case NetworkKind::kHost: return "host";
    case NetworkKind::kGateway: return "gateway";
  }
  return "";
}

std::string plan_text(const SandboxPlan& plan) {
  std::string out;
  line(out, "project", printable(plan.project, 4096));
  line(out, "cwd", printable(plan.cwd, 4096));
  line(out, "user", cat({std::to_string(plan.uid), ":", std::to_string(plan.gid)}));
  std::vector<std::string> groups;
  for (const std::uint32_t group : plan.groups) groups.push_back(std::to_string(group));
  if (!groups.empty()) line(out, "groups", join(groups, " "));
  line(out, "network", network_name(plan.network));
  line(out, "limits", limits_text(plan.limits));
  if (const std::string shares = shares_text(plan); !shares.empty()) line(out, "shares", shares);
  if (!plan.seccomp.empty()) {
    line(out, "seccomp", cat({"a filter of ", std::to_string(plan.seccomp.size()), " instructions"}));
  }
  out += "files\n";
  for (const MountStep& step : plan.mounts) out += cat({"  ", step_text(step), "\n"});
  out += "proc\n";
  list(out, "read-only", plan.read_only_proc);
  list(out, "hidden", plan.hidden_proc);
  out += "landlock\n";
  list(out, "readable", plan.landlock.readable);
  list(out, "writable", plan.landlock.writable);
  out += "environment\n";
  for (const std::string& entry : plan.environment) out += cat({"  ", printable(entry, 4096), "\n"});
  if (!plan.notes.empty()) out += "notes\n";
  for (const std::string& note : plan.notes) out += cat({"  ", note, "\n"});
  return out;
}

std::string step_text(const MountStep& step) {
  const std::string target = printable(step.target, 4096);
  switch (step.kind) {
    case MountKind::kTmpfs: {
      const std::string size = step.size_bytes == 0 ? std::string() : cat({", ", size_text(step.size_bytes)});
      return labelled("tmpfs", cat({target, " (", octal(step.mode), size, ")"}));
    }
    case MountKind::kDirectory: return labelled("directory", cat({target, " (", octal(step.mode), ")"}));
    case MountKind::kSymlink: return labelled("link", cat({target, " -> ", printable(step.source, 4096)}));
    case MountKind::kFile: return labelled("file", cat({target, " (", octal(step.mode), ")"}));
    case MountKind::kBind: {
      const std::string from = step.source == step.target ? "" : cat({" from ", printable(step.source, 4096)});
      return labelled(step.access == Access::kReadOnly ? "read-only" : "writable", target + from);
    }
    case MountKind::kHideFile: return labelled("hidden", target);
    case MountKind::kCover:
      return labelled("read-only", cat({target, " from the sandbox's ", printable(step.source, 4096)}));
    case MountKind::kProc: return labelled("proc", target);
    case MountKind::kDevices:
      return labelled("devices", step.source.empty() ? target : cat({target, " and ", printable(step.source)}));
    case MountKind::kSeal: return labelled("sealed", target);
    case MountKind::kAccount: return labelled("account", cat({target, " has ", printable(step.source, 4096)}));
    case MountKind::kGivenRoot: return labelled("image", cat({target, " of the sandbox beside it"}));
    case MountKind::kEngineRoot:
      return labelled("image", cat({target, " of the engine's ", printable(step.source, 4096)}));
    case MountKind::kImage: {
      const std::string layer = step.layer.empty() ? "a layer that goes with it" : printable(step.layer, 4096);
      return labelled("image", cat({target, " from ", printable(step.source, 4096), ", changes in ", layer}));
    }
  }
  return {};
}

std::string size_text(std::uint64_t bytes) {
  static constexpr std::string_view kUnits = "KMGT";
  std::string_view unit;
  std::uint64_t value = bytes;
  for (std::size_t power = 0; power < kUnits.size() && value != 0 && value % 1024 == 0; ++power) {
    value /= 1024;
    unit = kUnits.substr(power, 1);
  }
  return cat({std::to_string(value), unit});
}

namespace {

void line(std::string& out, std::string_view label, std::string_view text) { out += labelled(label, text) + "\n"; }

void list(std::string& out, std::string_view label, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += cat({text.empty() ? "" : " ", printable(item, 4096)});
  out += cat({"  ", labelled(label, text.empty() ? "-" : text), "\n"});
}

std::string labelled(std::string_view label, std::string_view text) {
  const std::string padding(kLabelWidth - std::min(label.size(), kLabelWidth), ' ');
  return cat({label, padding, " ", text});
}

std::string octal(unsigned mode) {
  std::string digits;
  for (unsigned rest = mode; rest != 0; rest /= 8) digits.insert(digits.begin(), static_cast<char>('0' + rest % 8));
  return "0" + digits;
}

std::string limits_text(const ResourceLimits& limits) {
  std::vector<std::string> parts;
  if (limits.timeout.count() != 0) parts.push_back("timeout " + duration_text(limits.timeout));
  if (limits.idle_timeout.count() != 0) parts.push_back("idle " + duration_text(limits.idle_timeout));
  if (limits.memory_bytes != 0) parts.push_back("memory " + size_text(limits.memory_bytes));
  if (limits.cpu_millis != 0) parts.push_back("cpus " + cpus_text(limits.cpu_millis));
  if (limits.pids != 0) parts.push_back("pids " + std::to_string(limits.pids));
  if (limits.processes != 0) parts.push_back(cat({"pids ", std::to_string(limits.processes), " by default"}));
  if (limits.tmp_bytes != 0) parts.push_back("tmp " + size_text(limits.tmp_bytes));
  if (limits.disk_bytes != 0) parts.push_back("disk " + size_text(limits.disk_bytes));
  if (limits.output_bytes != 0) parts.push_back("output " + size_text(limits.output_bytes));
  return parts.empty() ? "none" : join(parts, ", ");
}

// The names are those of docs/limits.md.
std::string shares_text(const SandboxPlan& plan) {
  std::vector<std::string> parts;
  for (const Quota& quota : quotas()) {
    const auto limit = std::ranges::find(plan.process_limits, quota.resource, &ProcessLimit::resource);
    const auto count = std::ranges::find(plan.user_counts, quota.name, &UserCount::name);
    if (limit != plan.process_limits.end()) parts.push_back(cat({quota.name, " ", std::to_string(limit->hard)}));
    if (count != plan.user_counts.end()) parts.push_back(cat({quota.name, " ", std::to_string(count->most)}));
  }
  return join(parts, "; ");
}

std::string duration_text(milliseconds duration) {
  if (duration.count() % 1000 != 0) return std::to_string(duration.count()) + "ms";
  return std::to_string(duration.count() / 1000) + "s";
}

std::string cpus_text(std::uint64_t millis) {
  std::string part = std::to_string(1000 + millis % 1000).substr(1);
  while (!part.empty() && part.back() == '0') part.pop_back();
  return cat({std::to_string(millis / 1000), part.empty() ? "" : ".", part});
}

}  // namespace

}  // namespace hutch::plan

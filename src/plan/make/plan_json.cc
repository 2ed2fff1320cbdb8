// A plan as one JSON object.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plan/make/plan_text.h"
#include "plan/quotas.h"

namespace hutch::plan {

namespace {

using json = nlohmann::ordered_json;

json step_json(const MountStep& step);
json limits_json(const ResourceLimits& limits);
json shares_json(const SandboxPlan& plan);
json environment_json(const std::vector<std::string>& environment);
std::string_view name_of(MountKind kind);

}  // namespace

std::string plan_json(const SandboxPlan& plan) {
  json mounts = json::array();
  for (const MountStep& step : plan.mounts) mounts.push_back(step_json(step));
  const json object = {
      {"project", plan.project},
      {"cwd", plan.cwd},
      {"uid", plan.uid},
      {"gid", plan.gid},
      {"groups", plan.groups},
      {"network", network_name(plan.network)},
      {"hostname", plan.hostname},
      {"limits", limits_json(plan.limits)},
      {"shares", shares_json(plan)},
      {"mounts", std::move(mounts)},
      {"proc", {{"read_only", plan.read_only_proc}, {"hidden", plan.hidden_proc}}},
      {"landlock", {{"readable", plan.landlock.readable}, {"writable", plan.landlock.writable}}},
      {"seccomp_instructions", plan.seccomp.size()},
      {"environment", environment_json(plan.environment)},
      {"notes", plan.notes},
  };
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

json step_json(const MountStep& step) {
  json object = {{"kind", name_of(step.kind)}, {"target", step.target}};
  switch (step.kind) {
    case MountKind::kTmpfs:
      object["mode"] = step.mode;
      object["size"] = step.size_bytes == 0 ? json() : json(step.size_bytes);
      break;
    case MountKind::kDirectory:
    case MountKind::kFile: object["mode"] = step.mode; break;
    case MountKind::kSymlink: object["text"] = step.source; break;
    case MountKind::kBind:
      object["source"] = step.source;
      object["access"] = step.access == Access::kReadOnly ? "read" : "write";
      break;
    case MountKind::kCover: object["source"] = step.source; break;
    case MountKind::kAccount: object["line"] = step.source; break;
    case MountKind::kDevices:
      if (!step.source.empty()) object["device"] = step.source;
      break;
    case MountKind::kEngineRoot: object["source"] = step.source; break;
    case MountKind::kImage:
      object["source"] = step.source;
      object["layer"] = step.layer.empty() ? json() : json(step.layer);
      break;
    case MountKind::kGivenRoot:
    case MountKind::kHideFile:
    case MountKind::kProc:
    case MountKind::kSeal: break;
  }
  return object;
}

json limits_json(const ResourceLimits& limits) {
  const auto number = [](std::uint64_t value) { return value == 0 ? json() : json(value); };
  const auto time = [](std::chrono::milliseconds value) { return value.count() == 0 ? json() : json(value.count()); };
  json object = {{"timeout_ms", time(limits.timeout)},
                 {"idle_timeout_ms", time(limits.idle_timeout)},
                 {"memory_bytes", number(limits.memory_bytes)},
                 {"cpu_millis", number(limits.cpu_millis)},
                 {"pids", number(limits.pids)},
                 {"processes", number(limits.processes)},
                 {"tmp_bytes", number(limits.tmp_bytes)},
                 {"output_bytes", number(limits.output_bytes)}};
  // Few backends have one.
  if (limits.disk_bytes != 0) object["disk_bytes"] = limits.disk_bytes;
  return object;
}

// The keys are the names of docs/limits.md.
json shares_json(const SandboxPlan& plan) {
  json object = json::object();
  for (const Quota& quota : quotas()) {
    const auto limit = std::ranges::find(plan.process_limits, quota.resource, &ProcessLimit::resource);
    const auto count = std::ranges::find(plan.user_counts, quota.name, &UserCount::name);
    if (limit != plan.process_limits.end()) object[std::string(quota.name)] = limit->hard;
    if (count != plan.user_counts.end()) object[std::string(quota.name)] = count->most;
  }
  return object;
}

json environment_json(const std::vector<std::string>& environment) {
  json object = json::object();
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    object[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return object;
}

std::string_view name_of(MountKind kind) {
  switch (kind) {
    case MountKind::kTmpfs: return "tmpfs";
    case MountKind::kDirectory: return "directory";
    case MountKind::kSymlink: return "symlink";
    case MountKind::kFile: return "file";
    case MountKind::kBind: return "bind";
    case MountKind::kHideFile: return "hide";
    case MountKind::kCover: return "cover";
    case MountKind::kProc: return "proc";
    case MountKind::kDevices: return "devices";
    case MountKind::kSeal: return "seal";
    case MountKind::kAccount: return "account";
    case MountKind::kImage: return "image";
    case MountKind::kGivenRoot: return "given";
    case MountKind::kEngineRoot: return "engine";
  }
  return "";
}

}  // namespace

}  // namespace hutch::plan

// A plan as the body of POST /containers/create.
#include "backend/container/create_body.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace hutch::backend::container {

namespace {

using Json = nlohmann::json;
using plan::MountKind;
using plan::MountStep;

constexpr std::string_view kSharedMemory = "/dev/shm";

// For what the guest does as root before any command runs, and gives up then: the files and owners of the plan, and
// becoming the commands' user.
constexpr std::array<const char*, 6> kGuestCapabilities = {"CHOWN",  "DAC_OVERRIDE", "FOWNER",
                                                           "SETGID", "SETPCAP",      "SETUID"};

// Besides those, what an installation has that no command has (sys/files/identity.h, keep_only_install_rights).
constexpr std::array<const char*, 2> kInstallCapabilities = {"FSETID", "KILL"};

// Sockets of engines. By other names, and through links, nothing can be known of them from here; no command makes a
// Unix socket, by the plan's filter.
constexpr std::array<std::string_view, 5> kEngineSockets = {"/run/docker.sock", "/var/run/docker.sock",
                                                            "/run/podman/podman.sock",
                                                            "/run/containerd/containerd.sock", "/run/crio/crio.sock"};

Json bind_of(std::string_view source, std::string_view target, plan::Access access) {
  const bool read_only = access == plan::Access::kReadOnly;
  // Engines older than 25 leave mounts below a read-only one writable: it is had without them.
  return {{"Type", "bind"},
          {"Source", source},
          {"Target", target},
          {"ReadOnly", read_only},
          {"BindOptions", {{"Propagation", "rprivate"}, {"NonRecursive", read_only}}}};
}

Status check_source(const MountStep& step, const CreateSettings& settings) {
  const auto shows = [&](std::string_view socket) { return is_within(socket, step.source); };
  if (!shows(settings.engine_socket) && std::ranges::none_of(kEngineSockets, shows)) return {};
  return fail({Code::kPermissionDenied, 0,
               cat({printable(step.source),
                    " would show the socket of an engine of containers in the sandbox; no rule "
                    "can give that"})});
}

std::string tmpfs_options(const MountStep& step, const plan::SandboxPlan& plan, const CreateSettings& settings) {
  const auto below = [&](const MountStep& other) {
    const bool makes =
        other.kind == MountKind::kFile || other.kind == MountKind::kDirectory || other.kind == MountKind::kSymlink;
    return makes && is_within(other.target, step.target);
  };
  const auto seals = [&](const MountStep& other) {
    return other.kind == MountKind::kSeal && other.target == step.target;
  };
  // What the guest writes files to first stays root's, which no command is.
  const bool read_only = std::ranges::any_of(plan.mounts, seals) && std::ranges::none_of(plan.mounts, below);
  static constexpr std::string_view kDigits = "01234567";
  std::string mode;
  for (unsigned rest = step.mode; rest != 0; rest /= 8) mode.insert(mode.begin(), kDigits[rest % 8]);
  std::string options = cat({read_only ? "ro" : "rw", ",exec,nosuid,nodev,mode=", mode});
  if (step.size_bytes != 0) options += cat({",size=", std::to_string(step.size_bytes)});
  // podman fills it with what the image has there.
  if (settings.engine == "podman") options += ",notmpcopyup";
  return options;
}

// What no step says is the guest's to do (guest/setup/container.h).
Status add_mounts(Json& host, const plan::SandboxPlan& plan, const CreateSettings& settings) {
  Json mounts = Json::array();
  Json tmpfs = Json::object();
  mounts.push_back(bind_of(settings.guest_program, kGuestPath, plan::Access::kReadOnly));
  mounts.push_back(bind_of(settings.place, kPlacePath, plan::Access::kReadOnly));
  for (const MountStep& step : plan.mounts) {
    // Paths are bytes; what is no UTF-8 cannot be said in JSON.
    if (!is_utf8(step.target) || (step.kind == MountKind::kBind && !is_utf8(step.source))) {
      return fail(Error::unsupported(
          cat({printable(step.target), ": an engine of containers takes no path that is not UTF-8"})));
    }
    if (is_within(step.target, kPlacePath) || is_within(step.target, kGuestPath)) {
      return fail(Error::invalid(cat({printable(step.target), ": that place is hutch's own in a container"})));
    }
    switch (step.kind) {
      case MountKind::kBind:
        TRY(check_source(step, settings));
        mounts.push_back(bind_of(step.source, step.target, step.access));
        break;
      case MountKind::kHideFile:
        mounts.push_back(bind_of(settings.hidden_file, step.target, plan::Access::kReadOnly));
        break;
      case MountKind::kTmpfs:
        if (step.target == kSharedMemory) {
          host["ShmSize"] = step.size_bytes;
        } else {
          tmpfs[step.target] = tmpfs_options(step, plan, settings);
        }
        break;
      case MountKind::kCover:
      case MountKind::kImage:
      case MountKind::kGivenRoot:
      case MountKind::kProc:
      case MountKind::kDevices: return fail(Error::invalid(cat({step.target, ": no step for a container"})));
      case MountKind::kEngineRoot:
      case MountKind::kDirectory:
      case MountKind::kSymlink:
      case MountKind::kFile:
      case MountKind::kAccount:
      case MountKind::kSeal: break;
    }
  }
  host["Mounts"] = std::move(mounts);
  host["Tmpfs"] = std::move(tmpfs);
  return {};
}

// podman's own are more than a service may give that has less itself.
void add_user_limits(Json& host, const CreateSettings& settings) {
  const auto limit = [](const char* name, std::uint64_t value) -> Json {
    return {{"Name", name}, {"Soft", value}, {"Hard", value}};
  };
  host["Ulimits"] = Json::array({limit("nofile", settings.open_files), limit("nproc", settings.processes)});
}

void add_limits(Json& host, const plan::ResourceLimits& limits) {
  const std::uint64_t processes = limits.pids != 0 ? limits.pids : limits.processes;
  if (processes != 0) host["PidsLimit"] = processes;
  if (limits.memory_bytes != 0) {
    host["Memory"] = limits.memory_bytes;
    host["MemorySwap"] = limits.memory_bytes;  // both together: none is left for swap
  }
  if (limits.disk_bytes != 0) host["StorageOpt"] = {{"size", std::to_string(limits.disk_bytes)}};
  if (limits.cpu_millis != 0) host["NanoCpus"] = limits.cpu_millis * 1'000'000;
}

}  // namespace

Status check_image_name(std::string_view name) {
  static constexpr std::size_t kBytesMax = 255;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:@").contains(c);
  };
  const bool whole = !name.empty() && name.size() <= kBytesMax && std::ranges::all_of(name, is_allowed);
  const bool begins = whole && std::string_view("._-/:@").find(name.front()) == std::string_view::npos;
  if (begins && name.find("..") == std::string_view::npos && name.find("//") == std::string_view::npos) return {};
  return fail(Error::invalid(
      cat({"\"", printable(name, 64), "\" is no name of an image, such as hutch-sandbox:latest or debian:12"})));
}

Result<std::string> create_body(const plan::SandboxPlan& plan, const CreateSettings& settings) {
  if (plan.mounts.empty() || plan.mounts.front().kind != MountKind::kEngineRoot) {
    return fail(Error::invalid("a plan without an image of the engine's"));
  }
  const std::string& image = plan.mounts.front().source;
  TRY(check_image_name(image));
  Json capabilities = kGuestCapabilities;
  if (plan.network == plan::NetworkKind::kGateway) {
    for (const char* capability : {"NET_ADMIN", "NET_BIND_SERVICE"}) capabilities.push_back(capability);
  }
  if (plan.rights == plan::Rights::kImageRoot) {
    for (const char* capability : kInstallCapabilities) capabilities.push_back(capability);
  }
  const bool of_host = plan.network == plan::NetworkKind::kHost;
  Json host = {{"NetworkMode", of_host ? "host" : "none"},
               {"IpcMode", "private"},
               {"CgroupnsMode", "private"},
               {"AutoRemove", true},  // also where nobody is left to do it
               {"Privileged", false},
               {"CapDrop", {"ALL"}},
               {"CapAdd", std::move(capabilities)},
               {"SecurityOpt", {"no-new-privileges"}},
               {"RestartPolicy", {{"Name", "no"}}},
               {"LogConfig", {{"Type", "none"}}}};
  // docker's own is 0. Those of the machine's network are not for a container to set.
  if (!of_host) host["Sysctls"] = {{"net.ipv4.ip_unprivileged_port_start", "1024"}};
  TRY(add_mounts(host, plan, settings));
  add_limits(host, plan.limits);
  add_user_limits(host, settings);
  const Json body = {{"Image", image},
                     {"Hostname", plan.hostname},
                     {"User", "0:0"},
                     {"WorkingDir", "/"},
                     {"Entrypoint", {kGuestPath, "--container"}},
                     {"Cmd", Json::array()},
                     {"Env", Json::array()},
                     {"Labels", {{kOwnerLabel, settings.owner}}},
                     {"OpenStdin", false},
                     {"AttachStdout", false},
                     {"AttachStderr", false},
                     {"NetworkDisabled", false},
                     {"Healthcheck", {{"Test", {"NONE"}}}},
                     {"HostConfig", std::move(host)}};
  return body.dump();
}

}  // namespace hutch::backend::container

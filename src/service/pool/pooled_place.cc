// What a kind of sandbox of a pool is on this machine.
#include "service/pool/pooled_place.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "host/machine/facts.h"
#include "service/common/load_policy.h"
#include "service/image/build.h"
#include "service/image/build_stop.h"
#include "service/image/recipe.h"
#include "service/prepare/containers.h"
#include "sys/files/tree.h"
#include "sys/process/host_info.h"

namespace hutch::service {

namespace {

using sandbox::MountUse;
using sandbox::PoolMount;
using sandbox::PoolSpec;

constexpr const char* kUserName = "sandbox";

Status check_pooled(BackendKind backend);
Residence residence_of(const PoolSpec& spec);
std::vector<std::string> environment_of(const PoolSpec& spec);
Status check_mounts(const PoolSpec& spec, const std::vector<policy::Rule>& rules);
Result<std::string> bounded_text(const std::string& path);

}  // namespace

Result<Judged> judge_pooled(const PoolSpec& spec, const PoolHost& host, const std::stop_token& stop) {
  TRY(check_pooled(spec.backend));
  // Hidden as all of hutch's own files are: what a policy says of "." is about nothing.
  const std::string project = host.dirs.data + "/pool";
  TRY_CTX(sys::make_private_directories(project), "make the pool's directory");
  Judged judged{.facts = TRY_CTX(host::probe_facts(), "look at this machine"),
                .prepared = {},
                .guest_program = host.guest_program};
  TRY(host::make_store_directories(judged.facts));
  judged.facts.cwd = TRY(sys::canonical_path(project));
  PlaceRequest place;
  std::stop_source both;
  const auto request = [&both] { both.request_stop(); };
  const std::stop_callback with_start(stop, request);
  const std::stop_callback with_pool(host.stop ? host.stop() : std::stop_token(), request);
  const BuildStop ends{both.get_token()};
  if (!spec.image.empty()) {
    // An engine has its own.
    if (spec.backend != BackendKind::kContainer)
      TRY(ensure_image(spec.image, Signals::kOthers, judged.facts, host.tell, &ends));
    place.image = spec.image;
  }
  if (spec.backend == BackendKind::kContainer) {
    const std::string image = place.image.value_or(std::string(kDefaultImage));
    TRY(ensure_engine_image(image, Signals::kOthers, judged.facts, host.tell, &ends));
  }
  policy::Policy policy = TRY(load_policy(place, judged.facts, sys::own_environment())).policy;
  TRY(check_pool_network(policy.network, spec));
  narrow(policy, spec);
  place.policy = std::move(policy);
  place.backend = spec.backend;
  place.environment = environment_of(spec);
  place.base_environment = plan::BaseEnvironment::kPathAlone;
  const auto limit = [](std::uint64_t value) { return value == 0 ? std::nullopt : std::optional(value); };
  place.limits.memory_bytes = limit(spec.memory_bytes);
  place.limits.cpu_millis = limit(spec.cpu_millis);
  place.limits.pids = limit(spec.pids);
  place.limits.tmp_bytes = limit(spec.disk_bytes);
  Residence residence = residence_of(spec);
  const bool reaches = place.policy->network.mode != policy::NetworkMode::kNone;
  if (spec.network == sandbox::PoolNetwork::kHost && reaches) residence.network = Residence::Network::kHost;
  judged.place = place;
  judged.prepared = TRY(prepare(place, judged.facts, {.environment = sys::own_environment(), .residence = &residence}));
  TRY(check_mounts(spec, judged.prepared.rules));
  return judged;
}

Status check_pool_network(const policy::Network& network, const PoolSpec& spec) {
  if (spec.network == sandbox::PoolNetwork::kGateway || network.mode == policy::NetworkMode::kNone) return {};
  const auto wrong = [](std::string_view reason) {
    return fail(Error::invalid(cat({"sandbox.network \"host\" of config.json: ", reason,
                                    "; change that, or have the gateway: hutch settings remove sandbox.network"})));
  };
  if (spec.backend != BackendKind::kContainer || spec.trust != sandbox::Trust::kTrusted) {
    return wrong("it is of trusted sandboxes of the backend container alone");
  }
  const std::array<std::pair<std::string_view, bool>, 6> rules = {
      std::pair("allowedDomains", !network.allowed_domains.empty()),
      std::pair("deniedDomains", !network.denied_domains.empty()),
      std::pair("deniedResolvedAddresses", !network.denied_resolved_addresses.empty()),
      std::pair("rules", !network.rules.empty()),
      std::pair("allowedUdp", !network.allowed_udp.empty()),
      std::pair("parentProxy", network.parent_proxy.has_value())};
  for (const auto& [name, there] : rules) {
    if (there) return wrong(cat({"the policy's network.", name, " holds nothing there"}));
  }
  return spec.hosts.empty() ? Status() : wrong("security.allowedHosts holds nothing there");
}

void narrow(policy::Policy& policy, const PoolSpec& spec) {
  policy::Filesystem& files = policy.filesystem;
  files.allow_write.clear();
  for (const char* homes : {"/home", "/root", "/Users", "~"}) files.deny_read.push_back({homes});
  policy::Network& network = policy.network;
  // Of the host, and of what only one sandbox at a time could have.
  network.allow_unix_sockets.clear();
  network.host_ports.clear();
  network.publish.clear();
  if (spec.trust == sandbox::Trust::kSandboxed) {
    network = policy::Network();
    network.mode = policy::NetworkMode::kNone;
    return;
  }
  if (network.mode == policy::NetworkMode::kNone) return;
  if (!spec.hosts.empty()) {
    network.mode = policy::NetworkMode::kRules;
    network.allowed_domains = spec.hosts;
    network.allowed_udp.clear();
    return;
  }
  // A policy that names hosts means these; one that names none leaves it to the trust.
  if (network.allowed_domains.empty() && network.rules.empty()) network.mode = policy::NetworkMode::kOutbound;
}

Result<std::string> policy_digest(const PoolHost& host) {
  Sha256 digest;
  for (const char* name : {"/default.json", "/projects.json"}) {
    const std::string text = TRY(bounded_text(host.dirs.config + name));
    digest.add(cat({std::to_string(text.size()), ":", text}));
  }
  return digest.finish();
}

Result<std::vector<PoolMount>> settle_mounts(std::vector<PoolMount> mounts) {
  static constexpr std::array<std::string_view, 4> kKernels = {"/proc", "/sys", "/dev", "/run"};
  static constexpr std::array<std::string_view, 20> kSystems = {
      "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc",    "/dev",          "/proc",
      "/sys", "/run", "/tmp",  "/var", "/boot",  "/root",  "/home",   "/.hutch", "/.hutch-place", "/.hutch-guest"};
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    PoolMount& mount = mounts[i];
    const std::string what = cat({"mount ", printable(mount.host), " at ", printable(mount.sandbox), ": "});
    const bool paths = mount.host.starts_with('/') && mount.sandbox.starts_with('/') && mount.sandbox.size() > 1 &&
                       !mount.host.contains('\0') && !mount.sandbox.contains('\0');
    if (!paths) return fail(Error::invalid(what + "both have to be absolute paths, and not \"/\" in the sandbox"));
    for (const std::string_view part : split(std::string_view(mount.sandbox).substr(1), '/')) {
      if (part.empty() || part == "." || part == "..") {
        return fail(Error::invalid(what + "the sandbox's path has an empty part, \".\" or \"..\""));
      }
    }
    mount.host = TRY_CTX(sys::canonical_path(mount.host), what.substr(0, what.size() - 2));
    const auto status = TRY(sys::status_of(mount.host));
    if (!status || status->kind != sys::EntryKind::kDirectory) {
      return fail(Error::invalid(what + "only a directory can be mounted"));
    }
    const auto holds = [&](std::string_view place) {
      return is_within(mount.host, place) || is_within(place, mount.host);
    };
    if (std::ranges::any_of(kKernels, holds)) {
      return fail(Error::invalid(what + "it holds the kernel's files or the host's sockets"));
    }
    const auto is_below = [&](std::string_view place) { return is_within(mount.sandbox, place); };
    if (std::ranges::any_of(kSystems, is_below)) {
      return fail(Error::invalid(what + "the system's files are there; mount it at /workspace, below it, or in a "
                                        "directory of its own"));
    }
    for (std::size_t before = 0; before < i; ++before) {
      const std::string& other = mounts[before].sandbox;
      if (is_within(other, mount.sandbox) || is_within(mount.sandbox, other)) {
        return fail(Error::invalid(cat({what, "another one is mounted at ", printable(other)})));
      }
    }
  }
  return mounts;
}

namespace {

Status check_pooled(BackendKind backend) {
  switch (backend) {
    case BackendKind::kNone:
      return fail(Error::invalid("a pool has no sandboxes of backend none, which isolates nothing; name another"));
    case BackendKind::kUser:
      return fail(Error::invalid("a pool has no sandboxes of backend user, which are all one user's; name another"));
    case BackendKind::kVm:
      return fail(Error::unsupported("a pool has no virtual machines in this version; name another backend"));
    case BackendKind::kNamespace:
    case BackendKind::kBwrap:
    case BackendKind::kContainer: break;
  }
  return {};
}

Residence residence_of(const PoolSpec& spec) {
  Residence residence;
  residence.user = kUserName;
  residence.home = kPoolHome;
  residence.cwd = kPoolHome;
  const auto is_home = [](const PoolMount& mount) { return mount.sandbox == kPoolHome; };
  // Without a source it is the sandbox's own.
  if (std::ranges::none_of(spec.mounts, is_home)) residence.shares.push_back({.source = {}, .target = kPoolHome});
  for (const PoolMount& mount : spec.mounts) {
    const bool read_only = mount.use == MountUse::kReadOnly;
    residence.shares.push_back({.source = mount.host,
                                .target = mount.sandbox,
                                .access = read_only ? plan::Access::kReadOnly : plan::Access::kReadWrite});
  }
  return residence;
}

std::vector<std::string> environment_of(const PoolSpec& spec) {
  std::vector<std::string> environment = {cat({"HOME=", kPoolHome}), cat({"USER=", kUserName}),
                                          cat({"LOGNAME=", kUserName}), "TMPDIR=/tmp", "LANG=C.UTF-8"};
  for (const auto& [name, value] : spec.environment) environment.push_back(cat({name, "=", value}));
  return environment;
}

// A mount shows all that is in it: rules about single files do not hold there.
Status check_mounts(const PoolSpec& spec, const std::vector<policy::Rule>& rules) {
  for (const PoolMount& mount : spec.mounts) {
    for (const policy::Rule& rule : rules) {
      const bool counts = rule.verb == policy::Verb::kDenyRead &&
                          (rule.origin == policy::Origin::kCredential || rule.origin == policy::Origin::kStore);
      if (!counts || !(is_within(rule.path, mount.host) || is_within(mount.host, rule.path))) continue;
      return fail(Error{Code::kPermissionDenied, 0,
                        cat({"mount ", printable(mount.host), ": it would show ", printable(rule.path),
                             ", which no sandbox may see; mount a directory beside it"})});
    }
  }
  return {};
}

// Empty where there is none.
Result<std::string> bounded_text(const std::string& path) {
  auto text = sys::regular_file_text(path, limits::kJsonBytesMax);
  if (!text && text.error().sys_errno != ENOENT && text.error().sys_errno != ENOTDIR) return fail(text.error());
  return text ? std::move(*text) : std::string();
}

}  // namespace

}  // namespace hutch::service

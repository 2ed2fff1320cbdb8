// What hutch-helper makes of what it was asked.
#include "helper/judge.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "plan/make/bridge_place.h"
#include "plan/trust.h"

namespace hutch::helper {

namespace {

// The kernel's own bound of a filter is 4096 (BPF_MAXINSNS), and no list of a person's is as long as these.
constexpr std::size_t kInstructionsMax = 4096;
constexpr std::size_t kPortsMax = 256;
constexpr std::size_t kCapturesMax = 64;
constexpr std::size_t kAddressesMax = 64;
// As store::check_agent_name.
constexpr std::size_t kAgentNameMax = 24;

Error bad(std::string_view what) { return Error::invalid(cat({"hutch-helper: ", what})); }

Status check_version(std::uint32_t version) {
  if (version == wire::kVersion) return {};
  return fail({Code::kUnsupported, 0,
               "hutch and hutch-helper are of different versions: install both from one package, and run hutch init"});
}

Status check_user(const host::OsUser& user) {
  const bool in_roots_group = std::ranges::find(user.groups, 0U) != user.groups.end();
  if (user.uid != 0 && !user.groups.empty() && !in_roots_group) return {};
  return fail({Code::kPermissionDenied, 0,
               cat({"the user ", printable(user.name), " is root, or in root's group: nothing is started as it"})});
}

Status check_network(const wire::HelperStart& asked) {
  const bool captures = asked.network == plan::NetworkKind::kGateway;
  if (!captures && (!asked.host_ports.empty() || !asked.udp.empty())) return fail(bad("ports without a gateway"));
  if (asked.host_ports.size() > kPortsMax || asked.udp.size() > kCapturesMax) return fail(bad("too many ports"));
  if (std::ranges::find(asked.host_ports, 0) != asked.host_ports.end()) return fail(bad("a port that is 0"));
  for (const plan::UdpCapture& capture : asked.udp) {
    const bool of_gateway = capture.gateway_port >= plan::kFirstUdpPort && capture.gateway_port < plan::kProxyPort;
    if (capture.port == 0 || !of_gateway) return fail(bad("a port of UDP that is none of the gateway's"));
    if (capture.addresses.size() > kAddressesMax) return fail(bad("too many addresses"));
  }
  return {};
}

// Their own sandbox is whom a person tells what to trust. They lie over the machine's stores, which are root's to name.
Status place_trust(const wire::HelperStart& asked, const Machine& machine, std::vector<plan::MountStep>& steps) {
  if (asked.bundle.empty() != asked.authority.empty()) return fail(bad("a bundle without its authority"));
  for (const std::string* text : {&asked.authority, &asked.bundle, &asked.java_store}) {
    if (text->size() > limits::kTrustBytesMax) return fail(bad("too many certificates"));
  }
  if (asked.bundle.empty()) return {};
  std::vector<plan::TrustStore> stores = machine.stores;
  if (asked.java_store.empty()) {
    std::erase_if(stores, [](const plan::TrustStore& store) { return store.file == plan::kJavaFile; });
  }
  plan::add_trust_of_os_user(steps, stores);
  for (plan::MountStep& step : steps) {
    if (step.kind != plan::MountKind::kFile) continue;
    if (step.target.ends_with(plan::kAuthorityFile)) step.source = asked.authority;
    if (step.target.ends_with(plan::kBundleFile)) step.source = asked.bundle;
    if (step.target.ends_with(plan::kJavaFile)) step.source = asked.java_store;
  }
  return {};
}

}  // namespace

Result<plan::SandboxPlan> plan_for(const wire::HelperStart& asked, const host::OsUser& user, const Machine& machine) {
  TRY(check_version(asked.version));
  TRY(check_user(user));
  TRY(check_network(asked));
  if (asked.seccomp.empty() || asked.seccomp.size() > kInstructionsMax) return fail(bad("no filter of system calls"));
  plan::SandboxPlan plan;
  plan.uid = user.uid;
  plan.gid = user.groups.front();
  plan.groups = {user.groups.begin() + 1, user.groups.end()};
  plan.network = asked.network;
  plan.host_ports = asked.host_ports;
  plan.udp = asked.udp;
  // A guest needs no name for them.
  for (plan::UdpCapture& capture : plan.udp) capture.host.clear();
  plan.mounts = plan::own_places_of_os_user(machine.is_directory, asked.tmp_bytes);
  TRY(place_trust(asked, machine, plan.mounts));
  const bool has_bridge = std::ranges::find(asked.host_ports, plan::kBridgePort) != asked.host_ports.end();
  if (has_bridge) plan::add_host_programs_of_os_user(plan.mounts, machine.guest_program);
  plan.read_only_proc = {"sys"};
  plan.seccomp = asked.seccomp;
  plan.limits.memory_bytes = asked.memory_bytes;
  plan.limits.pids = asked.pids;
  plan.limits.cpu_millis = asked.cpu_millis;
  return plan;
}

Status check_wish(const wire::HelperMakeUser& asked) {
  TRY(check_version(asked.version));
  const std::string_view name = asked.agent;
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  const bool begins = !name.empty() && name.front() >= 'a' && name.front() <= 'z';
  if (begins && name.size() <= kAgentNameMax && std::ranges::all_of(name, fits)) return {};
  return fail(bad("a name that no agent has"));
}

}  // namespace hutch::helper

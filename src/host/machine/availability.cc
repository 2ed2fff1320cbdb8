// Which backend works here, and if not, why and what to do: the judgement on IsolationFacts.
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/text.h"
#include "host/machine/isolation_facts.h"

namespace hutch::host {

namespace {

using plan::Availability;

// Docker's own names of the three walls round a container that a sandbox inside needs open.
constexpr std::string_view kContainerRemedy =
    "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined";

Availability of_namespace(const IsolationFacts& facts);
Availability of_bubblewrap(const IsolationFacts& facts);
Availability of_container(const IsolationFacts& facts);
Availability of_user(const IsolationFacts& facts);
Availability of_vm(const IsolationFacts& facts);
Availability in_a_sandbox();
bool is_held(Trial trial, const IsolationFacts& facts);
std::optional<Availability> switched_off(const IsolationFacts& facts);
Availability refused(std::string_view failure, const IsolationFacts& facts);
Availability missing(std::string reason, std::string remedy);
Availability without_guest();
bool is_older(std::string_view version, std::string_view than);

}  // namespace

Availability availability(policy::BackendKind backend, const IsolationFacts& facts) {
  using enum policy::BackendKind;
  switch (backend) {
    case kNone: break;
    case kNamespace: return of_namespace(facts);
    case kBwrap: return of_bubblewrap(facts);
    case kContainer: return of_container(facts);
    case kUser: return of_user(facts);
    case kVm: return of_vm(facts);
  }
  return {.available = true, .reason = {}, .remedy = {}};
}

namespace {

Availability of_container(const IsolationFacts& facts) {
  if (facts.guest_program.empty()) return without_guest();
  if (!facts.engine_failure.empty()) return missing(facts.engine_failure, facts.engine_remedy);
  return {.available = true, .reason = {}, .remedy = {}};
}

Availability of_user(const IsolationFacts& facts) {
  if (facts.guest_program.empty()) return without_guest();
  if (facts.is_in_sandbox && !facts.has_os_user) return in_a_sandbox();
  if (!facts.has_os_user && facts.uid != 0) {
    return missing("root has not let you have sandboxes that are another user",
                   cat({"sudo hutch init --for ", facts.user}));
  }
  if (!facts.has_os_user) {
    return missing(cat({"this machine has no user ", plan::kCommonUser, " for agents"}), "sudo hutch init");
  }
  if (facts.uid == 0 && !facts.may_administer) {
    return missing("root has no CAP_SYS_ADMIN here, without which a sandbox has no namespaces",
                   facts.container.empty() ? std::string("run hutch as root with all capabilities")
                                           : std::string("start the container with --cap-add SYS_ADMIN"));
  }
  return {.available = true, .reason = {}, .remedy = {}};
}

// QEMU runs in a sandbox of backend namespace.
Availability of_vm(const IsolationFacts& facts) {
  if (!facts.has_qemu) return missing("QEMU is not installed", cat({facts.install_command, " qemu-system-x86"}));
  if (!facts.has_machine_files) return missing("no virtual machine is provisioned", "hutch vm provision");
  return of_namespace(facts);
}

Availability of_namespace(const IsolationFacts& facts) {
  if (facts.guest_program.empty()) return without_guest();
  if (!facts.has_seccomp) {
    return missing("the kernel has no seccomp filters", "use a kernel built with CONFIG_SECCOMP_FILTER");
  }
  if (facts.namespaces == Trial::kWorks) return {.available = true, .reason = {}, .remedy = {}};
  if (is_held(facts.namespaces, facts)) return in_a_sandbox();
  if (std::optional<Availability> off = switched_off(facts)) return std::move(*off);
  const bool restricted = !facts.may_administer && facts.apparmor_restriction.value_or(0) != 0;
  if (restricted && (facts.namespaces == Trial::kFails || !facts.has_apparmor_profile)) {
    return missing(
        "AppArmor keeps user namespaces from programs without a profile "
        "(kernel.apparmor_restrict_unprivileged_userns is 1)",
        cat({"sed 's|@GUEST@|", facts.guest_program,
             "|' packaging/apparmor/hutch | sudo tee /etc/apparmor.d/hutch && "
             "sudo apparmor_parser -r /etc/apparmor.d/hutch"}));
  }
  if (facts.namespaces == Trial::kFails) return refused(facts.namespaces_failure, facts);
  if (!facts.container.empty() && facts.is_filtered && !facts.may_administer) return refused("", facts);
  return {.available = true, .reason = {}, .remedy = {}};
}

Availability of_bubblewrap(const IsolationFacts& facts) {
  if (facts.bubblewrap.empty()) {
    return missing("bubblewrap is not installed", cat({facts.install_command, " bubblewrap"}));
  }
  if (!facts.bubblewrap_version.empty() && is_older(facts.bubblewrap_version, kBubblewrapMin)) {
    return missing(cat({"bubblewrap ", facts.bubblewrap_version, " is too old"}),
                   cat({"install bubblewrap ", kBubblewrapMin, " or newer"}));
  }
  if (facts.guest_program.empty()) {
    return missing("hutch-guest is not beside hutch", "install hutch again, or build it with ./dev build");
  }
  if (facts.bubblewrap_trial == Trial::kWorks) return {.available = true, .reason = {}, .remedy = {}};
  if (is_held(facts.bubblewrap_trial, facts)) return in_a_sandbox();
  if (std::optional<Availability> off = switched_off(facts)) return std::move(*off);
  const bool failed = facts.bubblewrap_trial == Trial::kFails;
  if (failed && !facts.may_administer && facts.apparmor_restriction.value_or(0) != 0) {
    return missing("AppArmor keeps user namespaces from bubblewrap (kernel.apparmor_restrict_unprivileged_userns is 1)",
                   "sudo ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && "
                   "sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict");
  }
  if (failed) return refused(facts.bubblewrap_failure, facts);
  if (!facts.container.empty() && facts.is_filtered && !facts.may_administer) return refused("", facts);
  return {.available = true, .reason = {}, .remedy = {}};
}

Availability in_a_sandbox() {
  return missing("this is a sandbox of hutch's, and a sandbox makes no other", "run hutch outside of it");
}

// The sandbox that hutch runs in refuses it. Nothing inside can change what else on the host would refuse it too.
bool is_held(Trial trial, const IsolationFacts& facts) {
  return facts.is_in_sandbox && (trial == Trial::kFails || facts.max_user_namespaces == 0);
}

// What switches user namespaces off for everything, whichever program asks.
std::optional<Availability> switched_off(const IsolationFacts& facts) {
  if (!facts.max_user_namespaces) {
    return missing("the kernel has no user namespaces", "use a kernel built with CONFIG_USER_NS");
  }
  if (*facts.max_user_namespaces == 0) {
    return missing("user namespaces are switched off (user.max_user_namespaces is 0)",
                   "sudo sysctl -w user.max_user_namespaces=15000");
  }
  if (!facts.may_administer && facts.unprivileged_namespaces == 0) {
    return missing("user namespaces are for root alone here (kernel.unprivileged_userns_clone is 0)",
                   "sudo sysctl -w kernel.unprivileged_userns_clone=1");
  }
  return std::nullopt;
}

Availability refused(std::string_view failure, const IsolationFacts& facts) {
  const std::string what = failure.empty() ? std::string() : cat({": ", printable(failure)});
  if (facts.lacks_descriptors) {
    return missing(cat({"too many files are open", what}), "raise the limit of open files: ulimit -n 1024");
  }
  if (!facts.container.empty()) {
    return missing(cat({"this container (", printable(facts.container), ") does not let sandboxes be made", what}),
                   std::string(kContainerRemedy));
  }
  return missing(cat({"the kernel refused", what}),
                 "see what refused it in `sudo dmesg`; a seccomp filter or a security module is likely");
}

Availability without_guest() {
  return missing("hutch-guest is not beside hutch", "install hutch again, or build it with ./dev build");
}

Availability missing(std::string reason, std::string remedy) {
  return {.available = false, .reason = std::move(reason), .remedy = std::move(remedy)};
}

// By the numbers between the dots; what is not a number counts as 0.
bool is_older(std::string_view version, std::string_view than) {
  const auto part = [](std::string_view text, std::size_t index) {
    const auto parts = split(text, '.');
    unsigned value = 0;
    if (index < parts.size()) std::from_chars(parts[index].data(), parts[index].data() + parts[index].size(), value);
    return value;
  };
  for (std::size_t index = 0; index < 3; ++index) {
    if (part(version, index) != part(than, index)) return part(version, index) < part(than, index);
  }
  return false;
}

}  // namespace

}  // namespace hutch::host

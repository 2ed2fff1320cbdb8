// What decides whether each backend works here, and the judgement with its remedy. Dearer than probe_facts(): `doctor`
// asks, and whoever has to explain why a backend did not start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "plan/facts.h"
#include "policy/backend_kind.h"

namespace hutch::host {

// bubblewrap with --disable-userns, without which a sandbox could make user namespaces of its own.
inline constexpr std::string_view kBubblewrapMin = "0.8.0";

enum class Trial { kNotTried, kWorks, kFails };

struct IsolationFacts {
  std::uint32_t uid = 0;
  bool may_administer = false;  // CAP_SYS_ADMIN: not held back by the rules for unprivileged users
  bool has_seccomp = false;     // the kernel runs filters
  bool lacks_descriptors = false;  // this process has as many files open as it may: nothing could be tried
  bool is_filtered = false;     // a seccomp filter lies on this very process
  std::optional<std::int64_t> max_user_namespaces;      // user.max_user_namespaces
  bool is_in_sandbox = false;                           // of hutch's, as its variables say
  std::optional<std::int64_t> unprivileged_namespaces;  // kernel.unprivileged_userns_clone, of some distributions
  std::optional<std::int64_t> apparmor_restriction;     // kernel.apparmor_restrict_unprivileged_userns
  bool has_apparmor_profile = false;                    // hutch's own lies in /etc/apparmor.d
  std::string container;        // what kind of container this is inside of; empty: none that can be seen
  std::string guest_program;    // hutch-guest; empty: not found
  Trial namespaces = Trial::kNotTried;  // hutch-guest made a sandbox's namespaces
  std::string namespaces_failure;
  std::string no_capture;          // where namespaces work: why connections cannot be captured; empty: they can
  std::string bubblewrap;          // its path; empty: not installed
  std::string bubblewrap_version;  // "0.8.0"; empty: it did not say
  Trial bubblewrap_trial = Trial::kNotTried;
  std::string bubblewrap_failure;
  std::string engine_failure{};    // why no engine of containers can be used; empty: one can, or nobody looked
  std::string engine_remedy{};
  std::string user{};              // what this person is called
  bool has_os_user = false;        // there is one for sandboxes of root's, or of this person's
  bool has_qemu = false;
  bool has_machine_files = false;  // hutch vm provision has made them
  std::string install_command;  // "sudo apt-get install", of this distribution
};

// Looks, and with kTry really makes a sandbox's namespaces: by each backend, or by the one that is named alone.
enum class Effort { kLook, kTry };
// `guest_program` as find_guest_program() finds it where it is empty.
IsolationFacts probe_isolation(Effort effort, std::optional<policy::BackendKind> backend = {},
                               const std::string& guest_program = {});

// Whether the backend works, else why not in one sentence and what exactly to type.
plan::Availability availability(policy::BackendKind backend, const IsolationFacts& facts);

// hutch-guest: beside this program, or where packages put it. Empty where it is not.
std::string find_guest_program();

// `program` in the directories of the system alone: the caller's PATH does not choose what runs with our descriptors.
std::string find_system_program(std::string_view program);

}  // namespace hutch::host

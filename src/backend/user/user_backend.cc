// Backend `user`.
#include "backend/user/user_backend.h"

#include <utility>

#include "backend/guest_process.h"
#include "backend/user/helper_client.h"
#include "base/check.h"
#include "sys/files/identity.h"

namespace hutch::backend {

Guarantees UserBackend::guarantees() const {
  return {
      .holds = {"another user of the machine: files are as open to it as their owners, modes and lists say "
                "(hutch share), and it can signal, trace or read the memory of nobody else's processes",
                "no capability, no new privileges: setuid programs, su and sudo gain nothing",
                "own mount, pid, network, ipc, uts and cgroup namespaces: its own processes alone in /proc; /tmp and "
                "/dev/shm of its own; a clean environment",
                "no network but its own loopback and what the gateway lets through; the machine's own where the "
                "policy says \"network\": \"host\"",
                "a filter for system calls that make namespaces, mounts, sockets of hosts or reach the kernel",
                "the end of the command ends everything that it started, wherever that went"},
      .open = {"what every user of the machine may read or write, it may: rules about files are refused",
               "sandboxes of one OS user have each other's files",
               "the kernel itself is shared: a hole in a permitted system call is a way out"}};
}

Result<Instance> UserBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  CHECK(plan.uid != 0 && plan.gid != 0);
  if (sys::user_id() != 0) return start_by_helper(plan, options);
  GuestProcess started = TRY(spawn_guest(options.guest_program, {"hutch-guest", "--os-user"}, {}, options));
  return adopt_init(std::move(started), wire::Isolation::kOsUser, plan, options);
}

}  // namespace hutch::backend

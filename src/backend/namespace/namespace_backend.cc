// Backend `namespace`.
#include "backend/namespace/namespace_backend.h"

#include "backend/id_mapping.h"
#include "sys/io.h"

namespace hutch::backend {

namespace {

// How the guest is told which namespaces to enter before it has the plan (guest/guest.cc).
constexpr std::string_view kWithNetwork = "--namespaces-and-network";
constexpr std::string_view kWithoutNetwork = "--namespaces";

}  // namespace

Guarantees NamespaceBackend::guarantees() const {
  return {.holds = {"only the planned files are there, with the planned rights, by mounts and again by Landlock",
                    "own user, mount, pid, network, ipc, uts and cgroup namespaces; no capability; no new privileges",
                    "no network but its own loopback and what the gateway lets through",
                    "a filter for system calls that make namespaces, mounts, sockets of hosts or reach the kernel",
                    "the end of the command ends everything that it started"},
          .open = {"the kernel itself is shared: a hole in a permitted system call is a way out",
                   "timing, load and memory pressure of the machine can be felt"}};
}

Status NamespaceBackend::start_ahead(const std::string& guest_program) {
  ahead_.emplace(TRY(spawn_guest(guest_program, {"hutch-guest", std::string(kWithNetwork)}, {}, {})));
  return {};
}

Result<Instance> NamespaceBackend::start(const plan::SandboxPlan& plan, const StartOptions& options) {
  if (options.beside) return start_beside(plan, options);
  const bool own_network = plan.network != plan::NetworkKind::kHost;
  // One that is there already has a network of its own, and no way back to the host's.
  if (!own_network) ahead_.reset();
  if (plan.ids.kind != plan::IdMap::Kind::kOwn) {
    TRY(start_mapped(plan, options));
  } else if (!ahead_) {
    std::vector<std::string> words = {"hutch-guest", std::string(own_network ? kWithNetwork : kWithoutNetwork)};
    if (wants_readable_guest(plan, options)) words.emplace_back("--again");
    ahead_.emplace(TRY(spawn_guest(options.guest_program, std::move(words), {}, {})));
  }
  GuestProcess started = std::move(*ahead_);
  ahead_.reset();
  if (options.admit) TRY(options.admit(started.process.pid()));
  return adopt_init(std::move(started), wire::Isolation::kNamespace, plan, options);
}

Result<Instance> NamespaceBackend::start_beside(const plan::SandboxPlan& plan, const StartOptions& options) {
  static constexpr int kUserFd = 3;
  static constexpr int kMountsFd = 4;
  const Running& running = *options.beside;
  GuestProcess started =
      TRY(spawn_guest(options.guest_program, {"hutch-guest", "--beside", std::to_string(running.init)},
                      {{running.user, kUserFd}, {running.mounts, kMountsFd}}, options));
  Instance instance = TRY(adopt_init(std::move(started), wire::Isolation::kBeside, plan, options));
  // Its pid namespace is the other's, and goes on.
  instance.ending = Instance::Ending::kByGuest;
  instance.joined = TRY(sys::duplicate(running.pidfd));
  return instance;
}

// The ids are mapped from outside while the guest waits.
Status NamespaceBackend::start_mapped(const plan::SandboxPlan& plan, const StartOptions& options) {
  std::vector<std::string> words = {"hutch-guest", "--mapped"};
  if (wants_readable_guest(plan, options)) words.emplace_back("--again");
  ahead_.emplace(TRY(spawn_guest(options.guest_program, std::move(words), {}, {})));
  const wire::ToHost message = TRY_CTX(receive_message(ahead_->guest), "start hutch-guest");
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  if (!std::holds_alternative<wire::Unmapped>(message)) {
    return fail(Error::invalid("hutch-guest: unexpected first message"));
  }
  TRY_CTX(map_ids_of(ahead_->process.pid(), plan.ids), "map the image's users");
  return ahead_->guest.send(wire::ToGuest(wire::Mapped{}));
}

}  // namespace hutch::backend

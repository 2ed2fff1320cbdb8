// The steps that all backends share to start a guest.
#include "backend/guest_process.h"

#include <signal.h>

#include "sys/channel.h"

namespace hutch::backend {

Status Instance::stop() {
  if (!process) return {};
  TRY(process.signal(SIGKILL));
  TRY(process.wait());
  return orphans == Orphans::kAdopted ? sys::reap_orphans() : Status();
}

Status Instance::stop_alone() {
  if (!process) return {};
  const pid_t first = process.pid();
  const pid_t within = inside();
  TRY(process.signal(SIGKILL));
  TRY(process.wait());
  if (within == first) return {};
  // The first process of the namespace: with it everything in there ends, and the kernel lets it be waited for last
  // (pid_namespaces(7)).
  TRY(sys::send_signal(within, SIGKILL));
  return sys::reap(within);
}

pid_t Instance::inside() const {
  if (orphans == Orphans::kNone) return process.pid();
  // The first process of bubblewrap stays outside.
  const std::vector<pid_t> children = sys::children_of(process.pid());
  return children.empty() ? process.pid() : children.front();
}

Result<GuestProcess> spawn_guest(const std::string& program, std::vector<std::string> arguments,
                                 std::vector<std::pair<int, int>> install, const StartOptions& options) {
  auto [host_end, guest_end] = TRY(sys::socket_pair());
  install.emplace_back(guest_end.get(), 0);
  auto process = TRY(sys::spawn(program, {.arguments = std::move(arguments), .environment = {}, .install = install}));
  if (options.admit) TRY(options.admit(process.pid()));
  return GuestProcess{wire::Connection(std::move(host_end)), std::move(process)};
}

Status send_start(wire::Connection& guest, wire::Isolation isolation, const plan::SandboxPlan& plan,
                  const StartOptions& options) {
  wire::Start start;
  start.isolation = isolation;
  start.landlock_abi = options.landlock_abi;
  start.service = options.service;
  start.plan = plan;
  return guest.send(wire::ToGuest(std::move(start)));
}

Result<wire::ToHost> receive_message(wire::Connection& guest) {
  const auto frame = TRY(guest.receive());
  if (!frame) return fail(Error{Code::kSystem, 0, "the guest ended before it said why"});
  return wire::decode_to_host(frame->header, frame->body);
}

}  // namespace hutch::backend

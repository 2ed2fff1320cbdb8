// The steps that all backends share to start a guest.
#include "backend/guest_process.h"

#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <chrono>

#include "sys/channel.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/process.h"

namespace hutch::backend {

namespace {

constexpr std::chrono::milliseconds kMessageWait{60'000};
constexpr std::chrono::milliseconds kHuntWait{10'000};

}  // namespace

Status Instance::kill() { return ending == Ending::kByKeeper ? remove() : process.signal(SIGKILL); }

Status Instance::end_starter() {
  if (!starter) return {};
  TRY(starter.signal(SIGKILL));
  TRY(starter.wait());
  return {};
}

Status Instance::stop() {
  TRY(end_starter());
  if (!process) return {};
  if (ending == Ending::kByKeeper) return stop_alone();
  TRY(process.signal(SIGKILL));
  TRY(process.wait());
  return orphans == Orphans::kAdopted ? sys::reap_orphans() : Status();
}

Status Instance::stop_alone() {
  TRY(end_starter());
  if (!process) return {};
  if (ending == Ending::kByKeeper) {
    Status removed = remove();
    if (!removed) (void)process.signal(SIGKILL);
    process.leave();
    return removed;
  }
  const pid_t first = process.pid();
  const pid_t within = inside();
  if (ending == Ending::kByGuest) {
    sys::shut_down(guest.fd());
    pollfd ended{process.pidfd(), POLLIN, 0};
    TRY(sys::poll({&ended, 1}, kHuntWait));
  }
  TRY(process.signal(SIGKILL));
  const sys::WaitStatus status = TRY(process.wait());
  if (joined && status.signal() != 0) TRY(sys::send_signal_by(joined.get(), SIGKILL));
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

bool wants_readable_guest(const plan::SandboxPlan& plan, const StartOptions& options) {
  return options.service == wire::Service::kManyCommands && plan.supervisor != plan::Supervisor::kNone;
}

Status send_start(wire::Connection& guest, wire::Isolation isolation, const plan::SandboxPlan& plan,
                  const StartOptions& options) {
  wire::Start start;
  start.isolation = isolation;
  start.landlock_abi = options.landlock_abi;
  start.service = options.service;
  start.plan = plan;
  const bool given = options.given_root >= 0;
  return guest.send(wire::ToGuest(std::move(start)), {&options.given_root, given ? 1U : 0U});
}

Result<Instance> adopt_init(GuestProcess started, wire::Isolation isolation, const plan::SandboxPlan& plan,
                            const StartOptions& options) {
  const Status sent = send_start(started.guest, isolation, plan, options);
  // A guest that could not enter its namespaces has said why, and is gone.
  if (!sent && sent.error().sys_errno != EPIPE && sent.error().sys_errno != ECONNRESET) return fail(sent.error());
  const wire::ToHost message = TRY_CTX(receive_message(started.guest), "start hutch-guest");
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  const auto* spawned = std::get_if<wire::Spawned>(&message);
  if (spawned == nullptr) return fail(Error::invalid("hutch-guest: unexpected first message"));
  // The init is this process's own child (CLONE_PARENT), so its number stays its own until it is reaped here.
  auto init = TRY(sys::adopt_child(static_cast<pid_t>(spawned->pid)));
  Instance instance{std::move(started.guest), std::move(init), Instance::Orphans::kNone};
  instance.starter = std::move(started.process);
  return instance;
}

Result<wire::ToHost> receive_message(wire::Connection& guest) {
  const auto until = std::chrono::steady_clock::now() + kMessageWait;
  for (;;) {
    // It may have come together with the one before.
    if (const auto frame = TRY(guest.take_buffered())) return wire::decode_to_host(frame->header, frame->body);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{guest.fd(), POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail(Error{Code::kTimeout, 0, "the guest does not answer"});
    }
    const auto polled = TRY(guest.receive_ready());
    if (polled.frame) return wire::decode_to_host(polled.frame->header, polled.frame->body);
    if (polled.closed) return fail(Error{Code::kSystem, 0, "the guest ended before it said why"});
  }
}

}  // namespace hutch::backend

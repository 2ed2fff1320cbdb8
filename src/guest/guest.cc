// The guest's life: take the plan, apply it, serve commands.
#include "guest/guest.h"

#include <optional>

#include "base/check.h"
#include "guest/enter.h"
#include "guest/init.h"
#include "guest/network.h"
#include "guest/tree.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/signals.h"
#include "wire/connection.h"

namespace hutch::guest {

namespace {

Result<wire::Start> receive_start(wire::Connection& host);
enum class Role { kInit, kStarter };
struct Entered {
  Role role = Role::kInit;
  std::optional<UniqueFd> mounts;  // watched
};
Result<Entered> enter(wire::Connection& host, const wire::Start& start);
Result<Entered> become_init(wire::Connection& host, const wire::Start& start);
Result<bool> split_off_init(wire::Connection& host);
Status open_network(wire::Connection& host, const plan::SandboxPlan& plan);

}  // namespace

int serve(UniqueFd stream) {
  wire::Connection host(std::move(stream));
  auto start = receive_start(host);
  if (!start) {
    (void)host.send(wire::ToHost(wire::Failed{std::move(start).error()}));
    return 125;
  }
  auto entered = enter(host, *start);
  if (entered && entered->role == Role::kStarter) return 0;
  Status status = entered ? run_init(host, start->plan, start->isolation, std::move(entered->mounts))
                          : fail(std::move(entered).error());
  if (status) return 0;
  (void)host.send(wire::ToHost(wire::Failed{std::move(status).error()}));
  return 125;
}

namespace {

Result<wire::Start> receive_start(wire::Connection& host) {
  // The stream alone: whatever else the host, or bubblewrap, left open is not for this process and its children.
  TRY(sys::close_from(1));
  TRY(sys::block_all_signals());
  auto frame = TRY_CTX(host.receive(), "receive the plan");
  if (!frame) sys::exit_now(0);  // the host went away before it said anything
  wire::ToGuest message = TRY(wire::decode_to_guest(frame->header, frame->body));
  auto* start = std::get_if<wire::Start>(&message);
  if (start == nullptr) return fail(Error::invalid("the first message is no plan"));
  if (start->version != wire::kVersion) {
    return fail(Error::unsupported("hutch and hutch-guest are of different versions: install both from one package"));
  }
  return std::move(*start);
}

Result<Entered> enter(wire::Connection& host, const wire::Start& start) {
  if (start.isolation == wire::Isolation::kNamespace) {
    TRY_CTX(enter_namespaces(start.plan), "enter namespaces");
    if (!TRY_CTX(split_off_init(host), "start the init")) return Entered{Role::kStarter, std::nullopt};
  }
  return become_init(host, start);
}

// A pid namespace begins with the next child (pid_namespaces(7)). That child is made a child of the host's process,
// so that the one here need not stay; true in the child.
Result<bool> split_off_init(wire::Connection& host) {
  auto [sent, sending] = TRY(sys::pipe());
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kSibling));
  if (pid == 0) {
    // Both write to the one stream, and what the child says must come second. Nothing goes through the pipe: its end is
    // the sign, and it comes too when the parent fails.
    sending.reset();
    TRY(sys::read_to_end(sent.get(), 0));
    return true;
  }
  TRY(host.send(wire::ToHost(wire::Spawned{static_cast<std::uint32_t>(pid)})));
  return false;
}

Result<Entered> become_init(wire::Connection& host, const wire::Start& start) {
  Entered entered;
  // Out of the caller's session: its terminal is then no longer /dev/tty of anything in here.
  TRY(sys::new_session());
  // Without a pid namespace a sudden end would leave the command running: the end of the stream is noticed instead.
  if (start.isolation != wire::Isolation::kNone) TRY(sys::die_with_parent());
  switch (start.isolation) {
    case wire::Isolation::kNone: TRY(sys::become_subreaper()); break;
    case wire::Isolation::kNamespace:
      TRY_CTX(open_network(host, start.plan), "make the network");
      TRY(make_place(start.plan));
      break;
    case wire::Isolation::kBwrap: TRY(finish_place(start.plan)); break;
  }
  if (start.isolation != wire::Isolation::kNone) {
    // While there are capabilities: for root, directories stand on the way that it may not search without.
    entered.mounts = TRY(watch_covers(start.plan));
    TRY(lock_down(start.plan, start.landlock_abi));
  }
  TRY(host.send(wire::ToHost(wire::Ready{})));
  return entered;
}

// First of all, so that the gateway is made while the mounts are.
Status open_network(wire::Connection& host, const plan::SandboxPlan& plan) {
  if (plan.network != plan::NetworkKind::kGateway) return sys::loopback_up();
  return send_network(host, TRY(make_network(plan.host_ports)));
}

}  // namespace

}  // namespace hutch::guest

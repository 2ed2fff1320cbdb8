// The guest's life: take the plan, apply it, serve commands.
#include "guest/guest.h"

#include <optional>

#include "base/check.h"
#include "guest/enter.h"
#include "guest/init.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/process.h"
#include "sys/signals.h"
#include "wire/connection.h"

namespace hutch::guest {

namespace {

Result<wire::Start> receive_start(wire::Connection& host);
Status become_init(wire::Connection& host, const wire::Start& start);
Result<bool> split_off_init(wire::Connection& host);

enum class Role { kInit, kStarter };
Result<Role> enter(wire::Connection& host, const wire::Start& start);

}  // namespace

int serve(UniqueFd stream) {
  wire::Connection host(std::move(stream));
  auto start = receive_start(host);
  if (!start) {
    (void)host.send(wire::ToHost(wire::Failed{std::move(start).error()}));
    return 125;
  }
  auto role = enter(host, *start);
  if (role && *role == Role::kStarter) return 0;
  Status status = role ? run_init(host, start->plan, start->isolation) : fail(std::move(role).error());
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

Result<Role> enter(wire::Connection& host, const wire::Start& start) {
  if (start.isolation == wire::Isolation::kNamespace) {
    TRY_CTX(enter_namespaces(start.plan), "enter namespaces");
    if (!TRY_CTX(split_off_init(host), "start the init")) return Role::kStarter;
  }
  TRY(become_init(host, start));
  return Role::kInit;
}

// A pid namespace begins with the next child (pid_namespaces(7)). That child is made a child of the host's process,
// so that the one here need not stay; true in the child.
Result<bool> split_off_init(wire::Connection& host) {
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kSibling));
  if (pid == 0) return true;
  TRY(host.send(wire::ToHost(wire::Spawned{static_cast<std::uint32_t>(pid)})));
  return false;
}

Status become_init(wire::Connection& host, const wire::Start& start) {
  // Out of the caller's session: its terminal is then no longer /dev/tty of anything in here.
  TRY(sys::new_session());
  TRY(sys::die_with_parent());
  switch (start.isolation) {
    case wire::Isolation::kNone: TRY(sys::become_subreaper()); break;
    case wire::Isolation::kNamespace: TRY(make_place(start.plan)); break;
    case wire::Isolation::kBwrap: TRY(finish_place(start.plan)); break;
  }
  if (start.isolation != wire::Isolation::kNone) TRY(lock_down(start.plan, start.landlock_abi));
  return host.send(wire::ToHost(wire::Ready{}));
}

}  // namespace

}  // namespace hutch::guest

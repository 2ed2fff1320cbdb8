// Showing more, or less, of the host's files in a sandbox that runs.
#include "guest/calls/widen.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "guest/setup/hide.h"
#include "guest/setup/tree.h"
#include "sys/files/delegate.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/mounts.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "wire/connection.h"

namespace hutch::guest {

namespace {

constexpr int kWidenUserFd = 3;
constexpr int kWidenMountsFd = 4;

using wire::Widen;

using Task = std::variant<Widen, wire::Cover, wire::Uncover>;

Result<Task> receive_task(wire::Connection& host);
Status carry_out(wire::Connection& host, const Task& task);
Status carry_out(wire::Connection& host, const Widen& task);
Status carry_out(wire::Connection& host, const wire::Cover& task);
Status carry_out(wire::Connection& host, const wire::Uncover& task);
Status enter_users();
Status hand_root(wire::Connection& host);
Result<UniqueFd> tree_of(const Widen& task);
Result<wire::Widened> show(const Widen& task, const UniqueFd& tree);

}  // namespace

int widen(UniqueFd stream) {
  wire::Connection host(std::move(stream));
  const auto serve = [&]() -> Status {
    TRY(sys::close_from(kWidenMountsFd + 1));
    TRY(sys::block_all_signals());
    return carry_out(host, TRY(receive_task(host)));
  };
  Status served = serve();
  if (served) return 0;
  (void)host.send(wire::ToHost(wire::Failed{std::move(served).error()}));
  return 125;
}

namespace {

Result<Task> receive_task(wire::Connection& host) {
  auto frame = TRY(host.receive());
  if (!frame) sys::exit_now(0);
  wire::ToGuest message = TRY(wire::decode_to_guest(frame->header, frame->body));
  if (auto* widen = std::get_if<Widen>(&message)) return Task(std::move(*widen));
  if (auto* cover = std::get_if<wire::Cover>(&message)) return Task(std::move(*cover));
  if (auto* uncover = std::get_if<wire::Uncover>(&message)) return Task(std::move(*uncover));
  return fail(Error::invalid("the first message says nothing to show or to hide"));
}

Status carry_out(wire::Connection& host, const Task& task) {
  return std::visit([&](const auto& one) { return carry_out(host, one); }, task);
}

Status enter_users() {
  if (sys::user_id() == 0) TRY(sys::drop_groups());
  return sys::enter_namespace(sys::NamespaceKind::kUser, kWidenUserFd);
}

Status carry_out(wire::Connection& host, const wire::Cover& task) {
  const Hider hider = TRY(Hider::look(task, kWidenMountsFd));
  TRY(enter_users());
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, kWidenMountsFd));
  return host.send(wire::ToHost(hider.cover()));
}

Status carry_out(wire::Connection& host, const wire::Uncover& task) {
  const UniqueFd proc = TRY(sys::open("/proc", sys::Open::kPath));
  TRY(enter_users());
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, kWidenMountsFd));
  TRY(uncover(proc.get(), task));
  return host.send(wire::ToHost(wire::Widened{}));
}

Status carry_out(wire::Connection& host, const Widen& task) {
  TRY(enter_users());
  if (task.action == Widen::Action::kHandRoot) return hand_root(host);
  const UniqueFd tree = TRY(tree_of(task));
  if (task.action == Widen::Action::kHandOver) {
    const int handed = tree.get();
    return host.send(wire::ToHost(wire::Widened{}), {&handed, 1});
  }
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, kWidenMountsFd));
  return host.send(wire::ToHost(TRY(show(task, tree))));
}

// What is mounted in it stays where it is: the host's files above all.
Status hand_root(wire::Connection& host) {
  TRY(sys::enter_namespace(sys::NamespaceKind::kMounts, kWidenMountsFd));
  const UniqueFd root = TRY(sys::open_exact("/"));
  const UniqueFd tree = TRY(sys::clone_mount(root.get(), "/"));
  const int handed = tree.get();
  return host.send(wire::ToHost(wire::Widened{}), {&handed, 1});
}

// Mounts of the host that come later do not come into what was copied here.
Result<UniqueFd> tree_of(const Widen& task) {
  TRY(sys::enter_new_namespaces(sys::NamespaceSet::kMounts));
  TRY(sys::make_all_private());
  const UniqueFd root = TRY(sys::open_exact("/"));
  sys::set_umask(0);
  TRY(add_mounts(root.get(), task.steps));
  const UniqueFd made = TRY(sys::open_beneath(root.get(), task.target));
  return sys::clone_tree(made.get(), task.target);
}

// Its number is what it is taken off by: a path may lead elsewhere by then, to a mount that hides something, where the
// sandbox can move a directory above.
Result<wire::Widened> show(const Widen& task, const UniqueFd& tree) {
  const UniqueFd root = TRY(sys::open_exact("/"));
  auto onto = sys::open_beneath(root.get(), task.at);
  if (!onto && onto.error().sys_errno != ENOENT) return fail(std::move(onto).error());
  wire::Widened done;
  if (!onto) {
    done.place = wire::Widened::Place::kMade;
    const auto make =
        S_ISDIR(TRY(sys::look_at(tree.get())).mode) ? plan::MakeTarget::kDirectory : plan::MakeTarget::kFile;
    onto = TRY(make_mount_point(root.get(), task.at, make, task.own));
  }
  TRY(sys::attach(tree.get(), onto->get(), task.at));
  done.mount = TRY(sys::look_at(tree.get())).mount;
  return done;
}

}  // namespace

}  // namespace hutch::guest

// hutch-helper's life.
#include "helper/helper.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/decimal.h"
#include "base/text.h"
#include "helper/judge.h"
#include "helper/user_making.h"
#include "host/machine/account.h"
#include "host/machine/cgroup.h"
#include "host/machine/people.h"
#include "plan/setup/os_user.h"
#include "plan/trust.h"
#include "sys/channel.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/process/host_info.h"
#include "sys/process/process.h"
#include "sys/process/signals.h"
#include "wire/connection.h"
#include "wire/helper.h"

namespace hutch::helper {

namespace {

using std::chrono::milliseconds;

// Of whoever asks, for the one message; of the guest, which is of ours.
constexpr milliseconds kRequestWait{10'000};
constexpr milliseconds kGuestWait{60'000};
constexpr milliseconds kSendWait{10'000};
constexpr std::size_t kPasswdBytesMax = 16 << 20;
// At once, for one person.
constexpr int kSandboxesMax = 64;

// An agent has sandboxes beside its own, each of another helper, which hold its limits together; the common user of a
// person is that of agents with limits of their own.
enum class Holds { kTogether, kEach };
struct Runner {
  std::uint32_t uid = 0;
  Holds holds = Holds::kEach;
};

// One sandbox that was started, and what holds its limits.
struct Started {
  std::optional<host::Cgroup> cgroup;  // goes last: with processes in it, it stays
  sys::ChildProcess init;
  UniqueFd stream;
};

Error may_not_be(std::uint32_t person, std::uint32_t user) {
  return {Code::kPermissionDenied, 0,
          cat({"hutch-helper: person ", std::to_string(person), " may run nothing as user ", std::to_string(user),
               ": sudo hutch init --for PERSON says who may"})};
}

Status live(wire::Connection& caller);
Status prepare_self();
Result<std::uint32_t> person_of(const wire::Connection& caller);
Status check_person(std::uint32_t person);
Result<wire::ToHelper> receive_request(wire::Connection& caller);
Result<host::OsUser> user_for(std::uint32_t person, std::uint32_t number);
Result<Runner> runner(std::uint32_t person, const host::OsUser& user);
Machine machine_here();
Result<UniqueFd> take_slot(std::uint32_t person);
Result<Started> start(const plan::SandboxPlan& plan, const Runner& user, wire::Service service);
Result<std::string> guest_program();
Status hold_limits(const plan::ResourceLimits& limits, const Runner& user, std::optional<host::Cgroup>& cgroup);
Result<pid_t> await_init(int stream);
Result<std::string> receive_exactly(int stream, std::size_t size);
Status keep(wire::Connection& caller, Started& started);
Status answer(wire::Connection& caller, const Started& started, const wire::Frame& frame);

}  // namespace

int serve(UniqueFd caller) {
  wire::Connection connection(std::move(caller));
  Status lived = live(connection);
  if (lived) return 0;
  (void)connection.send(wire::FromHelper(wire::HelperRefused{std::move(lived).error()}));
  return 125;
}

namespace {

Status live(wire::Connection& caller) {
  TRY(prepare_self());
  TRY(sys::set_send_timeout(caller.fd(), kSendWait));
  const std::uint32_t person = TRY(person_of(caller));
  TRY(check_person(person));
  // Before it is waited for: connections on which nothing is said are a person's as well.
  const UniqueFd slot = TRY(take_slot(person));
  const wire::ToHelper message = TRY(receive_request(caller));
  if (const auto* wish = std::get_if<wire::HelperMakeUser>(&message)) {
    const std::uint32_t made = TRY(make_agents_user(person, *wish, caller));
    return caller.send(wire::FromHelper(wire::HelperMade{made}));
  }
  const wire::HelperStart& asked = std::get<wire::HelperStart>(message);
  const host::OsUser user = TRY(user_for(person, asked.user));
  const plan::SandboxPlan plan = TRY(plan_for(asked, user, machine_here()));
  const Runner as = TRY(runner(person, user));
  Started started = TRY(start(plan, as, asked.service));
  // Root's word is taken back before root looks for what runs as that user: one of the two sees the other.
  if (!TRY(host::may_become(person, user.name))) return fail(may_not_be(person, asked.user));
  const int stream = started.stream.get();
  TRY(caller.send(wire::FromHelper(wire::HelperStarted{static_cast<std::uint32_t>(started.init.pid())}), {&stream, 1}));
  started.stream.reset();
  return keep(caller, started);
}

// Of whoever started this, by sudo, there are signals of a terminal, a directory, a mask and descriptors.
Status prepare_self() {
  TRY(sys::close_from(3));
  TRY(sys::block_all_signals());
  sys::set_umask(077);
  TRY(sys::change_directory("/"));
  (void)sys::new_session();  // a unit's process has one
  return {};
}

// As the kernel says who made the connection. By sudo, whoever runs that could hand over somebody else's.
Result<std::uint32_t> person_of(const wire::Connection& caller) {
  const sys::Peer peer = TRY(sys::peer_of(caller.fd()));
  const auto by_sudo = sys::environment_variable("SUDO_UID");
  if (!by_sudo || decimal_of(*by_sudo) == peer.uid) return peer.uid;
  return fail({Code::kPermissionDenied, 0, "hutch-helper: the connection is of somebody else"});
}

// Of a person whom root has let be nobody not a byte is read.
Status check_person(std::uint32_t person) {
  if (TRY(sys::status_of(plan::people_directory(person)))) return {};
  return fail({Code::kPermissionDenied, 0,
               cat({"hutch-helper: person ", std::to_string(person),
                    " may run nothing as another user: sudo hutch init --for PERSON says who may"})});
}

Result<wire::ToHelper> receive_request(wire::Connection& caller) {
  const auto until = std::chrono::steady_clock::now() + kRequestWait;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    pollfd wait{caller.fd(), POLLIN, 0};
    if (left.count() <= 0 || TRY(sys::poll({&wait, 1}, left)) == 0) {
      return fail(Error{Code::kTimeout, 0, "hutch-helper: nothing was asked"});
    }
    const auto polled = TRY(caller.receive_ready());
    (void)caller.take_descriptors();
    if (polled.frame) {
      auto message = TRY(wire::decode_to_helper(polled.frame->header, polled.frame->body));
      if (!std::holds_alternative<wire::HelperCount>(message)) return message;
      return fail(Error::invalid("hutch-helper: the first message starts nothing"));
    }
    if (polled.closed) sys::exit_now(0);
  }
}

Result<host::OsUser> user_for(std::uint32_t person, std::uint32_t number) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kPasswdBytesMax));
  const auto account = host::find_account(passwd, number);
  const auto user = account ? TRY(host::find_os_user(account->name)) : std::nullopt;
  // The same answer for what is not there and what is another's.
  if (user && user->uid == number && TRY(host::may_become(person, user->name))) {
    TRY(host::check_is_no_daemon(*user));
    return *user;
  }
  return fail(may_not_be(person, number));
}

Result<Runner> runner(std::uint32_t person, const host::OsUser& user) {
  const std::string passwd = TRY(sys::read_file("/etc/passwd", kPasswdBytesMax));
  const auto account = host::find_account(passwd, person);
  const bool is_agents = account && user.name != plan::os_user_name_of(account->name, "");
  return Runner{user.uid, is_agents ? Holds::kTogether : Holds::kEach};
}

// Root's own names for it, however they are links to each other.
Machine machine_here() {
  Machine machine;
  machine.is_directory = [](std::string_view place) {
    const auto status = sys::status_of(std::string(place));
    return status && *status && (*status)->kind == sys::EntryKind::kDirectory;
  };
  const auto add = [&](std::string_view name, std::string_view file) {
    const auto path = sys::canonical_path(std::string(name));
    const auto status = path ? sys::status_of(*path) : Result<std::optional<sys::PathStatus>>(std::nullopt);
    if (!status || !*status || (*status)->kind != sys::EntryKind::kFile) return;
    const bool known = std::ranges::any_of(machine.stores, [&](const auto& store) { return store.path == *path; });
    if (!known) machine.stores.push_back({*path, file, {(*status)->device, (*status)->inode}});
  };
  const auto guest = guest_program();
  const auto program = guest ? sys::canonical_path(*guest) : Result<std::string>(std::string());
  if (program) machine.guest_program = *program;
  for (const std::string_view name : plan::kTrustStores) add(name, plan::kBundleFile);
  for (const std::string_view name : plan::kJavaStores) add(name, plan::kJavaFile);
  return machine;
}

Result<UniqueFd> take_slot(std::uint32_t person) {
  const std::string directory = std::string(plan::kHelperSocket.substr(0, plan::kHelperSocket.rfind('/'))) + "/slots";
  TRY(sys::make_private_directories(directory));
  for (int slot = 0; slot < kSandboxesMax; ++slot) {
    auto held = TRY(sys::try_lock_file(cat({directory, "/", std::to_string(person), ".", std::to_string(slot)})));
    if (held) return std::move(*held);
  }
  return fail({Code::kConflict, 0,
               cat({"hutch-helper: ", std::to_string(kSandboxesMax),
                    " sandboxes of yours run already, the most there "
                    "may be"})});
}

// The guest is told everything that it does as root, and becomes the user, before its stream is anybody else's: not a
// byte of the caller's is read by root.
Result<Started> start(const plan::SandboxPlan& plan, const Runner& user, wire::Service service) {
  Started started;
  TRY(hold_limits(plan.limits, user, started.cgroup));
  auto [mine, guests] = TRY(sys::socket_pair());
  const std::string program = TRY(guest_program());
  auto first = TRY(sys::spawn(
      program, {.arguments = {"hutch-guest", "--os-user"}, .environment = {}, .install = {{guests.get(), 0}}}));
  guests.reset();
  if (started.cgroup) TRY(started.cgroup->admit(first.pid()));
  wire::Start message;
  message.isolation = wire::Isolation::kOsUser;
  message.service = service;
  message.plan = plan;
  wire::Connection guest(std::move(mine));
  TRY(guest.send(wire::ToGuest(std::move(message))));
  const pid_t init = TRY(await_init(guest.fd()));
  started.init = TRY(sys::adopt_child(init));
  TRY(first.wait());
  started.stream = TRY(sys::duplicate(guest.fd()));
  return started;
}

// Root's alone, as this program is: whoever could change it would be root.
Result<std::string> guest_program() {
  const std::string own = TRY(sys::own_program());
  std::string guest = cat({own.substr(0, own.rfind('/')), "/hutch-guest"});
  TRY(host::check_is_roots(guest));
  return guest;
}

Status hold_limits(const plan::ResourceLimits& limits, const Runner& user, std::optional<host::Cgroup>& cgroup) {
  if (!host::wants_cgroup(limits)) return {};
  const host::CgroupPlace place = host::find_cgroup_place(0);
  if (place.kind == plan::CgroupKind::kNone) {
    return fail(Error::unsupported(cat({"limits of backend user take a cgroup of root's: ", place.note})));
  }
  auto made = user.holds == Holds::kTogether ? host::Cgroup::make_for_user(place, limits, user.uid)
                                             : host::Cgroup::make(place, limits);
  cgroup.emplace(TRY_CTX(std::move(made), "set the limits"));
  return {};
}

// The guest's first message, and not a byte more: what comes behind it is for the caller, with descriptors.
Result<pid_t> await_init(int stream) {
  const std::string head = TRY(receive_exactly(stream, wire::kFrameHeaderBytes));
  const wire::FrameHeader header = TRY(wire::decode_header(head));
  const std::string body = TRY(receive_exactly(stream, header.size));
  const wire::ToHost message = TRY(wire::decode_to_host(header, body));
  if (const auto* failed = std::get_if<wire::Failed>(&message)) return fail(failed->error);
  const auto* spawned = std::get_if<wire::Spawned>(&message);
  if (spawned != nullptr) return static_cast<pid_t>(spawned->pid);
  return fail(Error::invalid("hutch-guest: unexpected first message"));
}

Result<std::string> receive_exactly(int stream, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t have = 0; have < size;) {
    pollfd wait{stream, POLLIN, 0};
    if (TRY(sys::poll({&wait, 1}, kGuestWait)) == 0) {
      return fail(Error{Code::kTimeout, 0, "the guest does not answer"});
    }
    const std::size_t more = TRY(sys::read_some(stream, std::span(bytes).subspan(have)));
    if (more == 0) return fail(Error{Code::kSystem, 0, "the guest ended before it said why"});
    have += more;
  }
  return bytes;
}

// Until the caller ends, or says so by ending what it sends. The first process of the namespace takes all others along.
Status keep(wire::Connection& caller, Started& started) {
  bool wanted = true;
  while (wanted) {
    pollfd wait{caller.fd(), POLLIN, 0};
    TRY(sys::poll({&wait, 1}, std::nullopt));
    auto polled = caller.receive_ready();
    (void)caller.take_descriptors();
    wanted = polled && !polled->closed;
    for (; wanted && polled->frame; polled->frame = TRY(caller.take_buffered())) {
      wanted = answer(caller, started, *polled->frame).has_value();
    }
  }
  TRY(started.init.signal(SIGKILL));
  TRY(started.init.wait());
  return {};
}

// What is no question ends the sandbox.
Status answer(wire::Connection& caller, const Started& started, const wire::Frame& frame) {
  const wire::ToHelper message = TRY(wire::decode_to_helper(frame.header, frame.body));
  if (!std::holds_alternative<wire::HelperCount>(message)) return fail(Error::invalid("one sandbox for a connection"));
  const host::CgroupEvents events = started.cgroup ? started.cgroup->events() : host::CgroupEvents();
  return caller.send(wire::FromHelper(wire::HelperCounted{events.killed_for_memory, events.pids_refused}));
}

}  // namespace

}  // namespace hutch::helper

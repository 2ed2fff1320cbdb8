// The guest's life: take the plan, apply it, serve commands.
#include "guest/guest.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/decimal.h"
#include "base/text.h"
#include "guest/calls/supervised_mounts.h"
#include "guest/init.h"
#include "guest/setup/beside.h"
#include "guest/setup/container.h"
#include "guest/setup/enter.h"
#include "guest/setup/network.h"
#include "guest/setup/tree.h"
#include "sys/channel.h"
#include "sys/files/identity.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/readiness.h"
#include "sys/process/signals.h"
#include "wire/connection.h"

namespace hutch::guest {

namespace {

constexpr std::string_view kAllWord = "--namespaces";
constexpr std::string_view kAllAndNetworkWord = "--namespaces-and-network";
constexpr std::string_view kMappedWord = "--mapped";
constexpr std::string_view kUserAndMountsWord = "--mounts";
constexpr std::string_view kOsUserWord = "--os-user";
constexpr std::string_view kBesideWord = "--beside";
constexpr std::string_view kAgainWord = "--again";
constexpr std::string_view kEnteredWord = "--entered";

enum class Role { kInit, kStarter };
// A start in namespaces has two halves: the init makes the mounts, and whoever split it off makes the network.
struct Half {
  Role role = Role::kInit;
  UniqueFd channel;     // the network namespace comes through it once the starter has made the network
  UniqueFd namespaces;  // this process's own, of a starter
};

Status live(wire::Connection& host, Entrance entrance);
bool fits(const wire::Start& start, Entrance entrance);
Status enter_started(wire::Connection& host, Entrance entrance);
Status wait_until_mapped(wire::Connection& host);
Status start_again(Entrance entrance);
Status start_in_namespaces(wire::Connection& host, const wire::Start& start, OwnNetwork network);
Result<wire::Start> receive_start(wire::Connection& host);
Result<Half> split_off_init(wire::Connection& host, const wire::Start& start);
Status be_starter(wire::Connection& host, const wire::Start& start, const Half& half, OwnNetwork network);
Result<UniqueFd> await_starter(UniqueFd channel);
Status enter_network(const UniqueFd& network);
Status become_init(const wire::Start& start, UniqueFd given);
Result<Watched> close_place(const wire::Start& start);
Status open_network(wire::Connection& host, const plan::SandboxPlan& plan);

}  // namespace

std::optional<Entrance> entrance_of(std::span<const char* const> words) {
  Entrance entrance;
  if (words.size() > 2) return std::nullopt;
  if (words.size() == 2 && words[0] == kBesideWord) {
    const auto beside = decimal_of(words[1]);
    if (!beside || *beside < 1 || *beside > INT32_MAX) return std::nullopt;
    return Entrance{.namespaces = Namespaces::kOfOther, .beside = static_cast<pid_t>(*beside)};
  }
  if (words.size() == 1 && words[0] == kOsUserWord) return Entrance{.namespaces = Namespaces::kOfRoot};
  if (!words.empty()) {
    static constexpr std::array kWords = {kAllWord, kAllAndNetworkWord, kMappedWord, kUserAndMountsWord};
    if (std::ranges::find(kWords, words[0]) == kWords.end()) return std::nullopt;
    entrance.namespaces = words[0] == kUserAndMountsWord ? Namespaces::kUserAndMounts : Namespaces::kAll;
    if (words[0] == kMappedWord) entrance.ids = Ids::kByHost;
    if (words[0] == kAllAndNetworkWord) entrance.network = OwnNetwork::kAhead;
  }
  if (words.size() == 2) {
    if (words[1] != kAgainWord && words[1] != kEnteredWord) return std::nullopt;
    entrance.image = words[1] == kAgainWord ? Image::kAgain : Image::kEntered;
  }
  return entrance;
}

int serve(UniqueFd stream, Entrance entrance) {
  wire::Connection host(std::move(stream));
  Status lived = live(host, entrance);
  if (lived) return 0;
  (void)host.send(wire::ToHost(wire::Failed{std::move(lived).error()}));
  return 125;
}

int serve_container() {
  Result<UniqueFd> stream = connect_to_host();
  if (stream) return serve(std::move(*stream), Entrance());
  (void)sys::write_all(2, cat({"hutch-guest: ", stream.error().message, "\n"}));
  return 125;
}

namespace {

Status live(wire::Connection& host, Entrance entrance) {
  // The stream alone: whatever else the host, or bubblewrap, left open is not for this process and its children.
  if (entrance.namespaces == Namespaces::kOfOther) {
    TRY(sys::close_from(kBesideFirstFree));
  } else {
    TRY(sys::close_from(1));
  }
  TRY(sys::block_all_signals());
  // This comes before any descriptor is passed: a sandbox of the same user may have many in flight (plan/quotas.h).
  sys::raise_descriptor_limit();
  if (entrance.image != Image::kEntered) TRY_CTX(enter_started(host, entrance), "enter namespaces");
  const wire::Start start = TRY(receive_start(host));
  if (!fits(start, entrance)) return fail(Error::invalid("the plan is for another backend"));
  if (entrance.namespaces != Namespaces::kAsStarted && entrance.namespaces != Namespaces::kUserAndMounts) {
    return start_in_namespaces(host, start, entrance.network);
  }
  const bool has_mounts = start.isolation != wire::Isolation::kBwrap || entrance.namespaces != Namespaces::kAsStarted;
  if (!has_mounts) TRY_CTX(enter_user_and_mounts(), "enter namespaces");
  // The engine has made the namespace, and its loopback.
  const bool captures = start.plan.network == plan::NetworkKind::kGateway;
  if (start.isolation == wire::Isolation::kContainer && captures) TRY(open_network(host, start.plan));
  TRY(become_init(start, {}));
  auto watched = TRY(close_place(start));
  TRY(host.send(wire::ToHost(wire::Ready{})));
  return run_init(host, start, std::move(watched));
}

bool fits(const wire::Start& start, Entrance entrance) {
  const Namespaces namespaces = entrance.namespaces;
  if (entrance.network == OwnNetwork::kAhead && start.plan.network == plan::NetworkKind::kHost) return false;
  switch (start.isolation) {
    case wire::Isolation::kNone:
    case wire::Isolation::kContainer: return namespaces == Namespaces::kAsStarted;
    case wire::Isolation::kNamespace: return namespaces == Namespaces::kAll;
    case wire::Isolation::kBwrap:
      return namespaces == Namespaces::kAsStarted || namespaces == Namespaces::kUserAndMounts;
    case wire::Isolation::kOsUser: return namespaces == Namespaces::kOfRoot;
    case wire::Isolation::kBeside: return namespaces == Namespaces::kOfOther;
  }
  return false;
}

Status enter_started(wire::Connection& host, Entrance entrance) {
  switch (entrance.namespaces) {
    case Namespaces::kAsStarted: return {};
    case Namespaces::kAll:
      if (entrance.ids == Ids::kOwn) {
        TRY(enter_namespaces());
      } else {
        TRY(enter_unmapped_namespaces());
        TRY(wait_until_mapped(host));
      }
      break;
    case Namespaces::kUserAndMounts: TRY(enter_user_and_mounts()); break;
    case Namespaces::kOfRoot: TRY(enter_namespaces_of_root()); break;
    case Namespaces::kOfOther: TRY(enter_running(entrance.beside)); break;
  }
  if (entrance.network == OwnNetwork::kAhead) TRY(sys::enter_new_namespaces(sys::NamespaceSet::kNetwork));
  return entrance.image == Image::kAgain ? start_again(entrance) : Status();
}

// Not a byte more is read than that message has: the plan may be right behind it, and is for the program that this one
// becomes when it starts itself again.
Status wait_until_mapped(wire::Connection& host) {
  TRY(host.send(wire::ToHost(wire::Unmapped{})));
  const std::string mapped = wire::encode(wire::ToGuest(wire::Mapped{}));
  std::string said(mapped.size(), '\0');
  for (std::size_t size = 0; size < said.size();) {
    const std::size_t more = TRY(sys::read_some(host.fd(), std::span(said).subspan(size)));
    if (more == 0) sys::exit_now(0);  // the host could not map them, and has said so itself
    size += more;
  }
  return said == mapped ? Status() : fail(Error::invalid("the ids were not mapped"));
}

Status start_again(Entrance entrance) {
  TRY(sys::keep_capabilities_on_exec());
  const bool ahead = entrance.network == OwnNetwork::kAhead;
  const bool all = entrance.namespaces == Namespaces::kAll;
  const std::string word(!all ? kUserAndMountsWord : ahead ? kAllAndNetworkWord : kAllWord);
  const int error = sys::execute("/proc/self/exe", {"hutch-guest", word, std::string(kEnteredWord)}, {});
  return fail(Error::from_errno("execve(hutch-guest)", error));
}

Status start_in_namespaces(wire::Connection& host, const wire::Start& start, OwnNetwork network) {
  // Only now is this process in the cgroup that holds the limits.
  if (start.isolation != wire::Isolation::kBeside) TRY_CTX(enter_cgroup_namespace(), "enter namespaces");
  Half half = TRY_CTX(split_off_init(host, start), "start the init");
  if (half.role == Role::kStarter) return be_starter(host, start, half, network);
  // Who has become another user may not enter it any more; all others make their place meanwhile.
  const bool becomes_other = start.isolation == wire::Isolation::kOsUser;
  Status placed = becomes_other ? Status() : become_init(start, host.take_descriptor());
  // Both write to the one stream, and what the init says must come second, be it an error.
  const UniqueFd made = TRY(await_starter(std::move(half.channel)));
  Status connected = start.plan.network == plan::NetworkKind::kHost ? Status() : enter_network(made);
  if (becomes_other && connected) placed = become_init(start, {});
  TRY(placed);
  TRY(connected);
  auto watched = TRY(close_place(start));
  TRY(host.send(wire::ToHost(wire::Ready{})));
  return run_init(host, start, std::move(watched));
}

Result<wire::Start> receive_start(wire::Connection& host) {
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

// A pid namespace begins with the next child (pid_namespaces(7)). That child is made a child of the host's process,
// so that the one here need not stay.
Result<Half> split_off_init(wire::Connection& host, const wire::Start& start) {
  auto [inits, starters] = TRY(sys::socket_pair());
  UniqueFd namespaces;
  // Whoever joins a sandbox has its /proc by now, in which only the child is.
  if (start.isolation != wire::Isolation::kBeside) namespaces = TRY(sys::own_namespaces());
  const pid_t pid = TRY(sys::fork_process(sys::Parentage::kSibling));
  if (pid == 0) return Half{Role::kInit, std::move(inits), {}};
  TRY(host.send(wire::ToHost(wire::Spawned{static_cast<std::uint32_t>(pid)})));
  return Half{Role::kStarter, std::move(starters), std::move(namespaces)};
}

Status be_starter(wire::Connection& host, const wire::Start& start, const Half& half, OwnNetwork network) {
  if (start.plan.network == plan::NetworkKind::kHost) return {};
  if (network == OwnNetwork::kByPlan) {
    TRY_CTX(sys::enter_new_namespaces(sys::NamespaceSet::kNetwork), "enter namespaces");
  }
  TRY_CTX(open_network(host, start.plan), "make the network");
  const UniqueFd made = TRY(sys::own_network_namespace(half.namespaces.get()));
  const int descriptor = made.get();
  return sys::send_all(half.channel.get(), "1", {&descriptor, 1});
}

// Its end is waited for as well: by then the starter has said what it had to.
Result<UniqueFd> await_starter(UniqueFd channel) {
  UniqueFd network;
  for (;;) {
    char byte = 0;
    sys::Received received = TRY(sys::receive_some(channel.get(), {&byte, 1}));
    if (received.size == 0) break;
    if (!received.descriptors.empty()) network = std::move(received.descriptors.front());
  }
  return network;
}

Status enter_network(const UniqueFd& network) {
  // The host has heard the reason, unless the starter was killed.
  if (!network) return fail(Error{Code::kSystem, 0, "the network was not made"});
  TRY_CTX(sys::enter_namespace(sys::NamespaceKind::kNetwork, network.get()), "enter namespaces");
  return {};
}

Status become_init(const wire::Start& start, UniqueFd given) {
  if (start.isolation == wire::Isolation::kContainer) return finish_container(start.plan);
  // First: whoever becomes another user is not told of its parent's death any more (prctl(2), PR_SET_PDEATHSIG).
  if (start.plan.rights == plan::Rights::kImageRoot) TRY(sys::become_namespace_root());
  // Out of the caller's session: its terminal is then no longer /dev/tty of anything in here.
  TRY(sys::new_session());
  if (start.isolation == wire::Isolation::kOsUser) return become_os_user(start.plan);
  // Without a pid namespace a sudden end would leave the command running: the end of the stream is noticed instead.
  if (start.isolation != wire::Isolation::kNone) TRY(sys::die_with_parent());
  switch (start.isolation) {
    case wire::Isolation::kNone: return sys::become_subreaper();
    case wire::Isolation::kNamespace: return make_place(start.plan, std::move(given));
    case wire::Isolation::kBwrap: return finish_place(start.plan);
    case wire::Isolation::kBeside: TRY(sys::become_subreaper()); return make_own_view(start.plan);
    case wire::Isolation::kContainer:
    case wire::Isolation::kOsUser: break;
  }
  return {};
}

// Where there are mounts of the sandbox's own.
Result<Watched> close_place(const wire::Start& start) {
  if (start.isolation == wire::Isolation::kNone || start.isolation == wire::Isolation::kOsUser) return Watched();
  // While there are capabilities: for root, directories stand on the way that it may not search without.
  Watched watched;
  if (start.plan.supervisor != plan::Supervisor::kNone) {
    UniqueFd tree = TRY_CTX(split_off_writable(start.plan), "make supervised files read-only");
    auto [user, mounts] = TRY(sys::own_user_and_mounts());
    std::vector<UniqueFd> roots = TRY_CTX(open_supervised(start.plan), "open supervised directories");
    watched.supervised.emplace(std::move(tree), std::move(user), std::move(mounts), std::move(roots));
  }
  // A sandbox that loses a cover ends, and with it every process in its pid namespace, this one too.
  if (start.isolation != wire::Isolation::kBeside) watched.mounts = TRY(watch_covers(start.plan));
  if (start.isolation == wire::Isolation::kContainer) TRY(become_commands_user(start.plan));
  // Root of a sandbox that runs may end what the agent has begun in it.
  const bool joins = start.isolation == wire::Isolation::kBeside;
  TRY(lock_down(start.plan, start.landlock_abi, joins ? sys::SignalScope::kOfNamespace : sys::SignalScope::kWithin));
  return watched;
}

Status open_network(wire::Connection& host, const plan::SandboxPlan& plan) {
  if (plan.network != plan::NetworkKind::kGateway) return sys::loopback_up();
  return send_network(host, TRY(make_network(plan)));
}

}  // namespace

}  // namespace hutch::guest

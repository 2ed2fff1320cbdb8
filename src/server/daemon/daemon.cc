// The daemon.
#include "server/daemon/daemon.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "base/text.h"
#include "host/daemon_paths.h"
#include "host/machine/facts.h"
#include "server/daemon/bridge_server.h"
#include "server/daemon/http_server.h"
#include "server/mcp/inquiries.h"
#include "server/mcp_api/http_mcp_sessions.h"
#include "server/rpc/session.h"
#include "server/state/desktop_notice.h"
#include "server/state/machines.h"
#include "server/state/plugin_trial.h"
#include "store/machine_settings.h"
#include "sys/files/files.h"
#include "sys/files/identity.h"
#include "sys/files/journal.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/net/local_socket.h"
#include "sys/net/sockets.h"
#include "sys/process/process.h"
#include "sys/process/readiness.h"
#include "sys/process/signals.h"
#include "sys/process/threads.h"

namespace hutch::server {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{1000};
constexpr std::chrono::seconds kMemoryPause{10};  // a walk through all that is free holds up whoever wants some
constexpr milliseconds kLeaveWait{30'000};
constexpr milliseconds kAnswerWait{5'000};
constexpr milliseconds kLockWait{60'000};  // for a daemon that is leaving
constexpr milliseconds kSendWait{30'000};
constexpr milliseconds kRefusalWait{1'000};  // for what a client says that is told that there is no room
constexpr std::size_t kRefusedAtOnce = 16;   // on each socket; whoever comes beside them finds it closed

// The connections that are open, each with its thread. Each socket has room of its own: whoever reaches the TCP port
// fills that without any token, and the daemon's user comes by the other one.
class Connections {
 public:
  Connections(Shared& shared, int at_once) : shared_(shared), at_once_(static_cast<std::size_t>(at_once)) {}

  // `guard` is of TCP; null: the Unix socket, on which both HTTP and frames are spoken.
  void add(UniqueFd socket, const http::Guard* guard) {
    const std::scoped_lock lock(mutex_);
    Room& room = guard == nullptr ? local_ : tcp_;
    const bool is_full = room.served >= at_once_;
    if (is_full && room.refused >= kRefusedAtOnce) return;
    std::size_t& count = is_full ? room.refused : room.served;
    const int fd = socket.get();
    open_.insert(fd);
    ++count;
    ++shared_.connections;
    auto thread = sys::start_thread([this, fd, guard, is_full, &count, socket = std::move(socket)]() mutable {
      // A copy is closed by whoever serves; the number itself stays taken while it is listed.
      auto copy = sys::duplicate(fd);
      if (copy && is_full) refuse(std::move(*copy), guard);
      if (copy && !is_full) serve(std::move(*copy), guard);
      forget(fd, std::move(socket), count);
    });
    if (thread) return thread->detach();
    // Its client finds it closed; those that are served go on.
    open_.erase(fd);
    --count;
    --shared_.connections;
  }

  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return open_.empty();
  }

  // Whoever waits for a client is woken; false when one does not go.
  bool end_all() {
    std::unique_lock lock(mutex_);
    // First no more calls: an answer that is on its way goes out, if its client reads it.
    for (const int fd : open_) sys::shut_down(fd, sys::ShutDown::kReading);
    const auto over = [&] { return open_.empty(); };
    if (changed_.wait_for(lock, kAnswerWait, over)) return true;
    for (const int fd : open_) sys::shut_down(fd, sys::ShutDown::kBoth);
    return changed_.wait_for(lock, kLeaveWait, over);
  }

 private:
  struct Room {
    std::size_t served = 0;
    std::size_t refused = 0;
  };

  void serve(UniqueFd socket, const http::Guard* guard) {
    if (guard != nullptr) return http::serve_connection(shared_, std::move(socket), guard);
    const auto first = sys::peek(socket.get(), http::kFirstBytes);
    if (first && http::is_http(*first)) return http::serve_connection(shared_, std::move(socket), nullptr);
    Session(shared_, std::move(socket)).serve();
  }

  void refuse(UniqueFd socket, const http::Guard* guard) {
    const std::string why = cat({"the daemon is busy: it serves ", std::to_string(at_once_),
                                 " connections of this socket already (daemon.maxConnections)"});
    if (guard != nullptr) return http::refuse_connection(std::move(socket), guard, why, kRefusalWait);
    if (!sys::set_receive_timeout(socket.get(), kRefusalWait)) return;
    const auto first = sys::peek(socket.get(), http::kFirstBytes);
    if (!first) return;
    if (http::is_http(*first)) return http::refuse_connection(std::move(socket), nullptr, why, kRefusalWait);
    Session(shared_, std::move(socket)).refuse({Code::kConflict, 0, why});
  }

  void forget(int fd, UniqueFd socket, std::size_t& count) {
    const std::scoped_lock lock(mutex_);
    open_.erase(fd);
    --count;
    socket.reset();
    --shared_.connections;
    // The last thing, and under the lock: whoever waits ends this object then.
    changed_.notify_all();
  }

  Shared& shared_;
  const std::size_t at_once_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> open_;
  Room local_;
  Room tcp_;
};

class Daemon {
 public:
  Daemon(const DaemonSettings& settings, const host::StateDirs& dirs, Shared& shared, const Machines& machines);

  struct Descriptors {
    int listener;
    int tcp;  // -1: none
    int signals;
    int stop;
  };
  Status run(const Descriptors& descriptors);
  bool leave() { return connections_.end_all(); }

 private:
  Status accept(int listener);
  Status accept_tcp(int listener);
  bool is_idle();
  void give_memory_back();
  // Somebody may have removed it: then nobody finds this daemon, and while it has the lock no other can begin.
  void keep_socket(int& listener);
  // Whoever has connected by now is served; from here on nobody finds the daemon, unless one has.
  Result<bool> has_late_client(int listener);

  const DaemonSettings& settings_;
  const std::string socket_;
  const std::string lock_;
  Shared& shared_;
  const Machines& machines_;
  http::Guard guard_;
  Connections connections_;
  Clock::time_point last_use_ = Clock::now();
  Clock::time_point memory_given_ = Clock::now();
  UniqueFd listener_again_;
};

Daemon::Daemon(const DaemonSettings& settings, const host::StateDirs& dirs, Shared& shared, const Machines& machines)
    : settings_(settings),
      socket_(host::daemon_socket(dirs)),
      lock_(host::daemon_lock(dirs)),
      shared_(shared),
      machines_(machines),
      connections_(shared, settings.connections_max) {
  if (settings.listen) guard_ = {settings.listen->token, http::is_loopback(settings.listen->at.address)};
}

Status Daemon::run(const Descriptors& descriptors) {
  int listener = descriptors.listener;
  for (;;) {
    keep_socket(listener);
    std::array<pollfd, 4> wait = {{{listener, POLLIN, 0},
                                   {descriptors.signals, POLLIN, 0},
                                   {descriptors.stop, POLLIN, 0},
                                   {descriptors.tcp, POLLIN, 0}}};
    TRY(sys::poll(wait, kTick));
    if (wait[1].revents != 0 || wait[2].revents != 0) return {};
    if (wait[0].revents != 0) TRY(accept(listener));
    if (wait[3].revents != 0) TRY(accept_tcp(descriptors.tcp));
    shared_.pool.sweep();
    shared_.e2b->sweep();
    give_memory_back();
    if (is_idle() && !TRY(has_late_client(listener))) return {};
  }
}

Status Daemon::accept(int listener) {
  auto accepted = sys::accept_local(listener, milliseconds(0));
  if (!accepted) {
    // Out of descriptors, say: whoever is served goes on, the next try comes with the next tick.
    settings_.tell(accepted.error().message);
    return sys::pause_briefly();
  }
  if (!*accepted) return {};
  last_use_ = Clock::now();
  const std::uint32_t uid = (*accepted)->peer.uid;
  if (uid != sys::user_id() && uid != 0) {
    settings_.tell(cat({"refused a connection of user ", std::to_string(uid)}));
    return {};
  }
  TRY(sys::set_send_timeout((*accepted)->socket.get(), kSendWait));
  connections_.add(std::move((*accepted)->socket), nullptr);
  return {};
}

Status Daemon::accept_tcp(int listener) {
  auto accepted = sys::accept_connection(listener);
  if (!accepted) {
    settings_.tell(accepted.error().message);
    return sys::pause_briefly();
  }
  if (!*accepted) return {};
  last_use_ = Clock::now();
  sys::disable_nagle((*accepted)->socket.get());
  connections_.add(std::move((*accepted)->socket), &guard_);
  return {};
}

void Daemon::keep_socket(int& listener) {
  if (sys::exists(socket_) || !sys::exists(lock_)) return;
  auto again = sys::listen_local(socket_);
  // Tried again with the next tick.
  if (!again) return settings_.tell(again.error().message);
  settings_.tell(cat({printable(socket_), " was removed; it is there again"}));
  listener_again_ = std::move(*again);
  listener = listener_again_.get();
}

// What many threads and their sandboxes had stays with the C library otherwise, half of it for ever.
void Daemon::give_memory_back() {
  if (Clock::now() - memory_given_ < kMemoryPause || !shared_.agents.take_ended()) return;
  sys::release_free_memory();
  memory_given_ = Clock::now();
}

bool Daemon::is_idle() {
  const bool kept = machines_.keep_daemon();
  const bool works = kept || shared_.agents.busy() > 0 || shared_.pool.busy() > 0 || shared_.tasks.busy() > 0;
  const bool used = !connections_.empty() || works || !shared_.sessions.empty(Clock::now());
  if (used || settings_.idle.count() == 0) last_use_ = Clock::now();
  if (settings_.idle.count() == 0 || Clock::now() - last_use_ <= settings_.idle) return false;
  // Looked at when it is about to leave alone, for it takes a look at every process there is.
  if (!shared_.agents.has_leftovers()) return true;
  last_use_ = Clock::now();
  return false;
}

Result<bool> Daemon::has_late_client(int listener) {
  const std::string leaving = cat({socket_, ".leaving"});
  TRY(sys::rename_file(socket_, leaving));
  std::array<pollfd, 1> waiting = {{{listener, POLLIN, 0}}};
  if (TRY(sys::poll(waiting, milliseconds(0))) == 0) {
    sys::forget_local(leaving);
    return false;
  }
  TRY(sys::rename_file(leaving, socket_));
  last_use_ = Clock::now();
  return true;
}

// Whether it can be a daemon that is about to leave, or has just begun. What cannot be looked at may be one.
bool may_be_daemon(const std::string& command) {
  return command.empty() || cat({std::string_view("\0", 1), command}).contains(std::string_view("\0serve\0", 7));
}

Error held_by_another(const std::string& path, pid_t holder, std::string command) {
  std::ranges::replace(command, '\0', ' ');
  std::string who = "a process that cannot be seen from here";
  if (holder > 0) who = cat({"process ", std::to_string(holder), " (", printable(command, 80), ")"});
  return {Code::kTimeout, 0, cat({path, ": ", who, " holds the daemon's lock and is no daemon that answers; end it"})};
}

// One that is about to leave, or has just begun, is waited for; where one stays, another is not needed.
Result<UniqueFd> take_lock(const host::StateDirs& dirs) {
  const std::string path = host::daemon_lock(dirs);
  const auto until = Clock::now() + kLockWait;
  for (;;) {
    auto lock = TRY(sys::try_lock_file(path));
    if (lock) return std::move(*lock);
    if (sys::connect_local(host::daemon_socket(dirs))) break;
    const pid_t holder = sys::lock_holder(path).value_or(0);
    const std::string command =
        holder > 0 ? sys::read_file(cat({"/proc/", std::to_string(holder), "/cmdline"}), 4096).value_or("") : "";
    if (Clock::now() >= until || !may_be_daemon(command)) return fail(held_by_another(path, holder, command));
    TRY(sys::pause_briefly());
  }
  return fail({Code::kConflict, 0, "a daemon runs already; hutch daemon status tells of it"});
}

// Only after the lock: a second daemon, which is about to be refused, must not uncover the token of the first one.
Result<UniqueFd> begin_alone(const host::StateDirs& dirs, const DaemonSettings& settings) {
  TRY(sys::make_private_directories(dirs.runtime));
  UniqueFd lock = TRY(take_lock(dirs));
  TRY(host::hide_own_file(dirs, settings.listen ? settings.listen->token_file : std::string()));
  return lock;
}

// To all that keep something for agents, or tell of them.
void tell_change(Shared& shared, service::HostServices& services, DesktopNotice& desktop, const AgentEvent& event) {
  const std::string& agent = event.agent;
  shared.events.tell(agent, event.state, event.reason);
  if (event.state == "removed") {
    shared.tasks.forget(agent);
    shared.plugins.forget(agent);
    services.forget(agent);
    shared.e2b->forget(agent);
    shared.client_sessions->forget(agent);
  }
  if (event.state == service::kPluginMade) desktop.plugin_made(agent, event.reason);
  if (event.state == service::kToolsChanged) shared.mcp_audience.tools_changed(agent);
  if (event.state == service::kArtifactsChanged) shared.mcp_audience.artifacts_changed(agent);
}

}  // namespace

Status serve(const host::StateDirs& dirs, const DaemonSettings& settings) {
  const UniqueFd lock = TRY(begin_alone(dirs, settings));
  sys::raise_descriptor_limit();
  TRY(sys::ignore_broken_pipe());
  // Before the first thread, so that none of them takes these.
  const UniqueFd signals = TRY(sys::signal_descriptor({SIGTERM, SIGINT, SIGHUP}));
  // What bubblewrap leaves behind falls to this process.
  TRY(sys::become_subreaper());
  auto [stop_read, stop_write] = TRY(sys::pipe());
  const auto agents = TRY(service::AgentService::open(dirs, settings.tell));
  if (const Status forgotten = service::forget_bridges(dirs); !forgotten) settings.tell(forgotten.error().message);
  PoolDesk pool(dirs, settings.tell);
  const auto tasks = TRY(service::Tasks::open(*agents, settings.tell));
  tool::Limiters limiters;
  service::Plugins plugins(*agents, limiters, settings.tell);
  Shared shared{*agents, pool, *tasks, plugins, limiters};
  shared.stop = [&stop_write] { (void)sys::write_some(stop_write.get(), "s"); };
  shared.tell = settings.tell;
  plugins.try_by([&pool](const plugin::Recipe& recipe) { return try_plugin(pool, recipe, {}); });
  service::HostServices services(*agents, *tasks, plugins, limiters.rates, settings.tell);
  agents->serve_bridge_by([&services](service::AgentSandbox& agent, const service::PluginRights* plugin,
                                      UniqueFd socket) { serve_bridge(services, agent, plugin, std::move(socket)); });
  shared.upload_max = settings.upload_max;
  shared.mcp_sessions = std::make_shared<http::McpSessions>();
  shared.mcp_parked = std::make_shared<mcp::ParkedCalls>();
  shared.e2b = TRY(E2bDesk::open(*agents, shared.workers, settings.tell));
  shared.client_sessions = TRY(ClientSessions::open(*agents, settings.tell));
  DesktopNotice desktop(shared.workers);
  agents->watch([&](const std::string& agent, std::string_view what, const std::string& reason) {
    tell_change(shared, services, desktop, {.agent = agent, .state = std::string(what), .reason = reason, .time = {}});
  });
  const std::string path = host::daemon_socket(dirs);
  const UniqueFd listener = TRY(sys::listen_local(path));
  UniqueFd tcp;
  if (settings.listen) {
    tcp = TRY(sys::bind_socket(sys::Transport::kTcp, settings.listen->at));
    settings.tell(cat({"listening on http://", TRY(sys::bound_text(tcp.get()))}));
  }
  shared.workers.run([&plugins] { plugins.repair(); });
  const auto machines = TRY(Machines::begin(shared, store::MachineSettingsFile(dirs.config)));
  if (settings.ready) settings.ready();

  Daemon daemon(settings, dirs, shared, *machines);
  const Status served = daemon.run({listener.get(), tcp.get(), signals.get(), stop_read.get()});
  sys::forget_local(path);
  machines->leave();
  tasks->end_all();
  // First the sandboxes: whoever waits for a command of theirs hears of its end.
  agents->end_all();
  agents->end_bridges();
  if (const Status ended = pool.end_all(); !ended) settings.tell(ended.error().message);
  shared.mcp_sessions->close_all();
  if (!daemon.leave() || !shared.workers.wait(kLeaveWait)) {
    settings.tell("a connection does not end");
    sys::exit_now(1);
  }
  // Of what the last of them may have started; whoever hears of changes goes before the agents do.
  agents->end_bridges();
  agents->watch({});
  return served;
}

}  // namespace hutch::server

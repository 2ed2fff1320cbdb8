// The daemon.
#include "server/daemon.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/text.h"
#include "host/daemon_paths.h"
#include "server/session.h"
#include "sys/identity.h"
#include "sys/io.h"
#include "sys/local_socket.h"
#include "sys/process.h"
#include "sys/readiness.h"
#include "sys/signals.h"
#include "sys/tree.h"

namespace hutch::server {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTick{1000};
constexpr milliseconds kLeaveWait{30'000};
constexpr milliseconds kSendWait{30'000};

// The connections that are open, each with its thread.
class Connections {
 public:
  explicit Connections(Shared& shared) : shared_(shared) {}

  void add(UniqueFd socket) {
    const std::scoped_lock lock(mutex_);
    if (open_.size() >= kConnectionsMax) return;
    const int fd = socket.get();
    open_.insert(fd);
    ++shared_.connections;
    std::thread([this, fd, socket = std::move(socket)]() mutable { serve(fd, std::move(socket)); }).detach();
  }

  bool empty() const {
    const std::scoped_lock lock(mutex_);
    return open_.empty();
  }

  // Whoever waits for a client is woken; false when one does not go.
  bool end_all() {
    std::unique_lock lock(mutex_);
    for (const int fd : open_) sys::shut_down(fd);
    return changed_.wait_for(lock, kLeaveWait, [&] { return open_.empty(); });
  }

 private:
  void serve(int fd, UniqueFd socket) {
    {
      Session session(shared_, std::move(socket));
      session.serve();
      const std::scoped_lock lock(mutex_);
      // Before the descriptor is closed, so that its number is nobody else's while it is listed.
      open_.erase(fd);
    }
    --shared_.connections;
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
  }

  Shared& shared_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> open_;
};

class Daemon {
 public:
  Daemon(const DaemonSettings& settings, Shared& shared) : settings_(settings), shared_(shared), connections_(shared) {}

  Status run(int listener, int signals, int stop);
  bool leave() { return connections_.end_all(); }

 private:
  Status accept(int listener);
  bool is_idle();

  const DaemonSettings& settings_;
  Shared& shared_;
  Connections connections_;
  Clock::time_point last_use_ = Clock::now();
};

Status Daemon::run(int listener, int signals, int stop) {
  for (;;) {
    std::array<pollfd, 3> wait = {{{listener, POLLIN, 0}, {signals, POLLIN, 0}, {stop, POLLIN, 0}}};
    TRY(sys::poll(wait, kTick));
    if (wait[1].revents != 0 || wait[2].revents != 0) return {};
    if (wait[0].revents != 0) TRY(accept(listener));
    if (is_idle()) return {};
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
  connections_.add(std::move((*accepted)->socket));
  return {};
}

bool Daemon::is_idle() {
  const bool used = !connections_.empty() || shared_.agents.busy() > 0;
  if (used || settings_.idle.count() == 0) last_use_ = Clock::now();
  return settings_.idle.count() > 0 && Clock::now() - last_use_ > settings_.idle;
}

}  // namespace

Status serve(const host::StateDirs& dirs, const DaemonSettings& settings) {
  TRY(sys::make_private_directories(dirs.runtime));
  const auto lock = TRY(sys::try_lock_file(host::daemon_lock(dirs)));
  if (!lock) return fail({Code::kConflict, 0, "a daemon runs already; hutch daemon status tells of it"});
  sys::raise_descriptor_limit();
  TRY(sys::ignore_broken_pipe());
  // Before the first thread, so that none of them takes these.
  const UniqueFd signals = TRY(sys::signal_descriptor({SIGTERM, SIGINT, SIGHUP}));
  // What bubblewrap leaves behind falls to this process.
  TRY(sys::become_subreaper());
  auto [stop_read, stop_write] = TRY(sys::pipe());
  const auto agents = TRY(service::AgentService::open(dirs, settings.tell));
  Shared shared{*agents};
  shared.stop = [&stop_write] { (void)sys::write_some(stop_write.get(), "s"); };
  shared.tell = settings.tell;
  const std::string path = host::daemon_socket(dirs);
  const UniqueFd listener = TRY(sys::listen_local(path));
  if (settings.ready >= 0) UniqueFd(settings.ready).reset();

  Daemon daemon(settings, shared);
  const Status served = daemon.run(listener.get(), signals.get(), stop_read.get());
  sys::forget_local(path);
  // First the sandboxes: whoever waits for a command of theirs hears of its end.
  agents->stop_all();
  if (!daemon.leave() || !shared.workers.wait(kLeaveWait)) {
    settings.tell("a connection does not end");
    sys::exit_now(1);
  }
  return served;
}

}  // namespace hutch::server

// The socket of one sandbox's bridge.
#include "bridge/listener.h"

#include <poll.h>

#include <array>
#include <chrono>

#include "sys/files/files.h"
#include "sys/files/tree.h"
#include "sys/io.h"
#include "sys/process/process.h"
#include "sys/process/threads.h"

namespace hutch::bridge {

namespace {

constexpr std::chrono::milliseconds kSendWait{30'000};  // for a client that reads

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(const std::string& directory, const std::string& name, Serve serve) {
  TRY_CTX(sys::make_private_directories(directory), "make the bridge's directory");
  UniqueFd place = TRY(sys::open(directory, sys::Open::kReadDirectory));
  sys::forget_beneath(place.get(), name);
  UniqueFd listener = TRY_CTX(sys::listen_beneath(place.get(), name), "make the bridge's socket");
  auto made = std::make_unique<Listener>(std::move(listener), TRY(sys::Event::make()), std::move(serve));
  made->thread_ = TRY(sys::start_thread([listening = made.get()] { listening->listen(); }));
  return made;
}

Listener::Listener(UniqueFd listener, sys::Event stop, Serve serve)
    : listener_(std::move(listener)), stop_(std::move(stop)), serve_(std::move(serve)) {}

// Its name stays: a later listener may have it by now.
Listener::~Listener() {
  stop_.signal();
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    for (const int socket : open_) sys::shut_down(socket);
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_.empty(); });
  }
  if (thread_.joinable()) thread_.join();
}

void Listener::listen() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || open_.size() < kConnectionsMax; });
      if (ending_) return;
    }
    std::array<pollfd, 2> wait = {{{listener_.get(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
    if (!sys::poll(wait, std::nullopt) || wait[1].revents != 0) return;
    auto accepted = sys::accept_local(listener_.get(), std::chrono::milliseconds(0));
    // Out of descriptors, say: those that are served go on.
    if (!accepted) {
      (void)sys::pause_briefly();
      continue;
    }
    if (*accepted) take(std::move(**accepted));
  }
}

void Listener::add(UniqueFd socket) {
  {
    const std::scoped_lock lock(mutex_);
    if (open_.size() >= kConnectionsMax) return;
  }
  take({std::move(socket), {}});
}

void Listener::take(sys::LocalConnection connection) {
  if (!sys::set_send_timeout(connection.socket.get(), kSendWait)) return;
  const std::scoped_lock lock(mutex_);
  if (ending_) return;
  const int number = connection.socket.get();
  open_.insert(number);
  auto thread = sys::start_thread([this, number, connection = std::move(connection)]() mutable {
    // A copy is closed by whoever serves; the number stays taken while it is listed.
    auto copy = sys::duplicate(number);
    if (copy) serve_(std::move(*copy), connection.peer);
    const std::scoped_lock done(mutex_);
    connection.socket.reset();
    open_.erase(number);
    // The last thing, and under the lock: whoever waits ends this object then.
    changed_.notify_all();
  });
  if (thread) return thread->detach();
  open_.erase(number);
}

}  // namespace hutch::bridge

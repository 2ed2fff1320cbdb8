// Takes the gateway's messages and holds a conversation on a thread for each connection.
#include "inspect/server.h"

#include <cerrno>
#include <utility>

#include "base/text.h"
#include "inspect/conversation.h"
#include "inspect/java_store.h"
#include "inspect/limits.h"
#include "inspect/lockdown.h"
#include "inspect/trust.h"
#include "sys/process/shutdown.h"
#include "sys/process/threads.h"

namespace hutch::inspect {

Status Server::run() {
  for (;;) {
    auto received = gateway_.receive();
    // A gateway that has ended without reading what it was told is gone as any other.
    if (!received && received.error().sys_errno == ECONNRESET) return {};
    std::optional<wire::Frame> frame = TRY(std::move(received));
    // A later message's descriptors may have come already, never an earlier one's: they are taken in order.
    for (UniqueFd& fd : gateway_.take_descriptors()) arrived_.push_back(std::move(fd));
    if (!frame) return {};
    wire::ToInspector message = TRY(wire::decode_to_inspector(frame->header, frame->body));
    if (const auto* first = std::get_if<wire::InspectStart>(&message)) {
      if (const Status started = start(*first); !started) {
        (void)gateway_.send(wire::FromInspector(wire::InspectFailed{started.error()}));
        return started;
      }
    } else if (!tls_) {
      return fail(Error::invalid("a message before the first one"));
    } else if (auto* connection = std::get_if<wire::Inspect>(&message)) {
      TRY(take(std::move(*connection)));
    } else {
      end(std::get<wire::InspectEnd>(message).id);
    }
  }
}

Status Server::start(const wire::InspectStart& message) {
  if (tls_) return fail(Error::invalid("started twice"));
  if (message.version != wire::kVersion) return fail(Error::unsupported("hutch-inspect is of another version"));
  Trust trust = TRY(load_trust(message.extra_ca_paths));
  tls_ = TRY(Tls::make(std::move(trust.store), message.authority));
  TRY(lock_down());
  wire::InspectReady ready{tls_->authority().pem(), {}, TRY(tls_->authority().with_key())};
  if (message.java_store) {
    trust.of_machine.push_back(tls_->authority().der());
    ready.java_store = TRY(java_store(trust.of_machine));
  }
  TRY(gateway_.send(wire::FromInspector(std::move(ready))));
  TRY(sys::start_thread([this] { tell_all(); })).detach();
  return {};
}

Status Server::take(wire::Inspect message) {
  if (arrived_.size() < 2) return fail(Error::invalid("a connection without its descriptors"));
  auto live = std::make_shared<Live>();
  live->connection = std::move(message);
  live->client = std::move(arrived_[0]);
  live->upstream = std::move(arrived_[1]);
  arrived_.erase(arrived_.begin(), arrived_.begin() + 2);
  {
    const std::lock_guard lock(mutex_);
    if (live_.size() >= limits::kConnectionsMax) {
      refuse(live->connection, "too many connections are read at once");
      return {};
    }
    if (!live_.emplace(live->connection.id, live).second) return fail(Error::invalid("a connection's number twice"));
  }
  auto thread = sys::start_thread([this, live]() mutable { converse_with(std::move(live)); });
  if (thread) {
    thread->detach();
  } else {
    const std::lock_guard lock(mutex_);
    live_.erase(live->connection.id);
    refuse(live->connection, "no thread could be started");
  }
  return {};
}

// Wakes its thread, whatever it waits for.
void Server::end(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(id);
  if (found == live_.end()) return;
  (void)sys::shut_down(found->second->client.get(), sys::Direction::kBoth);
  (void)sys::shut_down(found->second->upstream.get(), sys::Direction::kBoth);
}

void Server::converse_with(std::shared_ptr<Live> live) {
  const auto report = [this, id = live->connection.id, count = std::size_t{0}](const Refusal& refusal) mutable {
    if (refusal.what.empty() || ++count > limits::kReportsMax) return;
    // Whoever hears that it was refused may end at once, and the sandbox with it: its gateway knows of it before.
    wait_until_told(tell(wire::InspectRefused{id, refusal.what, refusal.why}));
  };
  const Transferred bytes =
      converse(live->connection, {live->client.get(), live->upstream.get()}, {*tls_, memory_}, report);
  const std::uint64_t id = live->connection.id;
  {
    // Closed under the lock, so that `end` never means a number that is another connection's by then.
    const std::lock_guard lock(mutex_);
    live_.erase(id);
    live.reset();
  }
  tell(wire::InspectClosed{id, bytes.bytes_up, bytes.bytes_down});
}

void Server::refuse(const wire::Inspect& connection, std::string_view why) {
  tell(wire::InspectRefused{connection.id, cat({"a connection to ", connection.host}), std::string(why)});
  tell(wire::InspectClosed{connection.id, 0, 0});
}

// Bounded by what a connection may report, and the number of connections that the gateway has begun.
std::uint64_t Server::tell(wire::FromInspector message) {
  const std::lock_guard lock(telling_);
  to_tell_.push_back(std::move(message));
  told_.notify_all();
  return ++numbered_;
}

// For the thread of a conversation: never for the one that reads the gateway's messages.
void Server::wait_until_told(std::uint64_t number) {
  std::unique_lock lock(telling_);
  told_.wait(lock, [this, number] { return sent_ >= number; });
}

// A gateway that is gone is noticed by the thread that reads.
void Server::tell_all() {
  for (;;) {
    std::unique_lock lock(telling_);
    told_.wait(lock, [this] { return !to_tell_.empty(); });
    const wire::FromInspector message = std::move(to_tell_.front());
    to_tell_.pop_front();
    lock.unlock();
    (void)gateway_.send(message);
    lock.lock();
    ++sent_;
    told_.notify_all();
  }
}

}  // namespace hutch::inspect

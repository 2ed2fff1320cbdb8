// Events that an agent's programs tell each other through the host: the last ones, and whoever listens.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/event.h"

namespace hutch::service {

struct HostEvent {
  std::uint64_t number = 0;  // counts on for each agent
  std::string type;
  std::string payload;  // JSON
  std::string time;
};

// What somebody who listens has not taken yet: the last ones, as many as are kept for one who is slow. They are shared,
// so that those who listen to one agent hold no more together than one of them may.
class EventListener {
 public:
  static constexpr std::size_t kWaitingMax = 1024;
  static constexpr std::size_t kWaitingBytesMax = 4 << 20;
  explicit EventListener(sys::Event event) : event_(std::move(event)) {}

  void add(std::shared_ptr<const HostEvent> event);
  int fd() const { return event_.fd(); }  // readable while there is something to take
  // How many were lost before this one. Null: there is none.
  struct Taken {
    std::shared_ptr<const HostEvent> event;
    std::uint64_t missed = 0;
  };
  Taken take();

 private:
  const sys::Event event_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const HostEvent>> waiting_;
  std::size_t bytes_ = 0;
  std::uint64_t missed_ = 0;
};

// Any thread may use it. Nobody who listens is waited for.
class HostEvents {
 public:
  static constexpr std::size_t kKept = 100;  // of each agent
  using Listener = EventListener;

  HostEvent emit(const std::string& agent, std::string type, std::string payload);
  // Of what is emitted from now on.
  Result<std::shared_ptr<Listener>> listen(const std::string& agent);
  std::vector<HostEvent> last(const std::string& agent) const;
  void forget(const std::string& agent);

 private:
  struct Ring {
    std::uint64_t count = 0;
    std::deque<std::shared_ptr<const HostEvent>> kept;
    std::vector<std::weak_ptr<Listener>> listeners;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Ring> rings_;
};

}  // namespace hutch::service

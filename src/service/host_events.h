// Events that an agent's programs tell each other through the host: the last ones, and whoever listens.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/inbox.h"

namespace hutch::service {

struct HostEvent {
  std::uint64_t number = 0;  // counts on for each agent
  std::string type;
  std::string payload;  // JSON
  std::string time;
};

// Any thread may use it. Nobody who listens is waited for: one who does not keep up hears no more.
class HostEvents {
 public:
  static constexpr std::size_t kKept = 100;  // of each agent
  using Listener = sandbox::Inbox<HostEvent>;

  HostEvent emit(const std::string& agent, std::string type, std::string payload);
  // Of what is emitted from now on.
  Result<std::shared_ptr<Listener>> listen(const std::string& agent);
  std::vector<HostEvent> last(const std::string& agent) const;
  void forget(const std::string& agent);

 private:
  struct Ring {
    std::uint64_t count = 0;
    std::deque<HostEvent> kept;
    std::vector<std::weak_ptr<Listener>> listeners;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Ring> rings_;
};

}  // namespace hutch::service

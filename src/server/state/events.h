// What happens to agents, told to whoever listens.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/io/inbox.h"

namespace hutch::server {

struct AgentEvent {
  std::string agent;
  std::string state;   // service::name_of, "created", "changed", "removed"
  std::string reason;  // of "error"
  std::string time;
};

// Any thread may use it. Nobody who listens is waited for: one who does not keep up hears no more.
class Events {
 public:
  using Listener = sandbox::Inbox<AgentEvent>;
  Result<std::shared_ptr<Listener>> listen();
  // Hears of one kind of event of one agent; of the first few where it does not keep up.
  Result<std::shared_ptr<Listener>> listen_to(std::string agent, std::string_view state);
  void tell(std::string agent, std::string_view state, std::string reason);

 private:
  struct Listening {
    std::weak_ptr<Listener> listener;
    std::string agent{};  // empty: every agent
    std::string state{};  // empty: everything
  };

  std::mutex mutex_;
  std::vector<Listening> listeners_;
};

}  // namespace hutch::server

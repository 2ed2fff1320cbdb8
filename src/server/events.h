// What happens to agents, told to whoever listens.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/inbox.h"

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
  void tell(std::string agent, std::string_view state, std::string reason);

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<Listener>> listeners_;
};

}  // namespace hutch::server

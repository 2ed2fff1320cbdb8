// Sessions of the daemon's clients: each an agent that is its client's alone, and is gone with it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "service/agent/agents.h"
#include "sys/event.h"

namespace hutch::server {

// Any thread may use it.
class ClientSessions {
 public:
  static constexpr std::size_t kAtOnce = 64;

  using Tell = std::function<void(const std::string& line)>;
  // Those of a daemon that was killed are removed.
  static Result<std::unique_ptr<ClientSessions>> open(service::AgentService& agents, Tell tell);
  ClientSessions(service::AgentService& agents, Tell tell) : agents_(agents), tell_(std::move(tell)) {}

  struct Wish {
    std::vector<std::string> settings{};  // of the agent
    service::GivenPolicy policy{};
  };
  using Questions = service::QuestionBoard::Attendant;
  struct Opened {
    std::string id;  // whoever knows it holds the session: nobody is told but who opened it
    std::string agent;
    std::shared_ptr<Questions> questions;
    std::shared_ptr<sys::Event> over;  // somebody has ended it
  };
  // Its sandbox runs when this returns. `gone`: the client, for which it starts no more.
  Result<Opened> begin(Wish wish, const std::stop_token& gone);
  Result<std::string> agent_of(const std::string& id) const;  // Code::kNotFound
  // Whether its client has brought the policy that it is under; until it is removed.
  bool has_own_policy(const std::string& agent) const;
  void end(const std::string& id);
  void forget(const std::string& agent);  // somebody removed it

 private:
  struct Known {
    std::string agent;
    std::shared_ptr<sys::Event> over;
  };
  Result<std::shared_ptr<Questions>> make(const std::string& agent, Wish wish, const std::stop_token& gone);
  std::string marks() const;
  Status remove(const std::string& agent);

  service::AgentService& agents_;
  const Tell tell_;
  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;
  std::set<std::string> with_own_policy_;  // agents
};

}  // namespace hutch::server

// What an agent's settings open and close of the network, as they are by now.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "policy/document/amend.h"
#include "store/agent_record.h"

namespace hutch::service {

// Any thread may use it.
class AgentNetworkNow {
 public:
  AgentNetworkNow(std::string agent, store::AgentNetwork network)
      : agent_(std::move(agent)), network_(std::move(network)) {}

  void set(store::AgentNetwork network);
  policy::NetworkOptions options() const;

 private:
  const std::string agent_;
  mutable std::mutex mutex_;
  store::AgentNetwork network_;
};

// The package registries that this machine's own package managers and the configuration in `home` name, as entries of
// allowedDomains.
std::vector<std::string> registry_hosts(const std::string& home);

}  // namespace hutch::service

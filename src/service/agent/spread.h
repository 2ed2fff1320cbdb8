// A policy that has changed, brought to sandboxes that run: waited for, but no more than some seconds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "service/agent/sandbox.h"

namespace hutch::service {

struct ChangedAgent {
  store::AgentRecord record;
  std::vector<std::string> notes;  // what of it does not hold yet, in a sentence each
};
using AdmitChange = std::function<Status(const store::AgentRecord& before)>;

// Of KEY=VALUE: whether it is one of those of an agent's network, which hold at once.
bool is_of_network(std::string_view setting);

// What of it does not hold where, in a sentence each.
std::vector<std::string> spread_policy_to_all(const std::vector<std::shared_ptr<AgentSandbox>>& sandboxes);

// The same of one. An error where it goes on as it was.
Result<std::vector<std::string>> spread_policy_to(const std::shared_ptr<AgentSandbox>& sandbox);

}  // namespace hutch::service

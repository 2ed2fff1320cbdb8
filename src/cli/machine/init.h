// hutch init and deinit: the OS users of agents; hutch network and hutch service: what the machine does for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/setup/os_user.h"
#include "service/common/request.h"

namespace hutch::cli {

struct InitArguments {
  enum class What { kUsers, kNetwork, kService };
  enum class Action { kInit, kDeinit, kApply, kCheck };  // kApply: of kNetwork, as its unit does; kCheck: of kService
  What what = What::kUsers;
  enum class Run { kYes, kDry };  // kDry: print the commands alone
  Action action = Action::kInit;
  std::string agent{};  // empty: the user of all agents
  std::string person{};  // whose agents these are; empty: root's
  Run run = Run::kYes;
  plan::Homes homes = plan::Homes::kKept;
  std::vector<std::uint16_t> ports{};  // of kNetwork
};

int init(const InitArguments& arguments);

}  // namespace hutch::cli

// hutch init and deinit: the OS users of agents.
#pragma once

#include <string>

#include "plan/os_user.h"
#include "service/request.h"

namespace hutch::cli {

struct InitArguments {
  enum class Action { kInit, kDeinit };
  enum class Run { kYes, kDry };  // kDry: print the commands alone
  Action action = Action::kInit;
  std::string agent{};  // empty: the user of all agents
  std::string person{};  // whose agents these are; empty: root's
  Run run = Run::kYes;
  plan::Homes homes = plan::Homes::kKept;
};

int init(const InitArguments& arguments);

}  // namespace hutch::cli

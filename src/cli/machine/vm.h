// hutch vm: what virtual machines are started from, and those of the agents.
#pragma once

#include <string>

#include "cli/options/question_arguments.h"
#include "service/common/request.h"
#include "service/vm/files.h"

namespace hutch::cli {

struct VmArguments {
  std::string action;  // provision, start, stop, restart, status, console, config, reset, remove
  service::VmProvisionRequest provision;
  std::string agent{};  // whose console
  Follow follow = Follow::kNo;
  std::string key{};    // of config; empty: all of them
  std::string value{};  // which it gets; empty: it is shown
  bool yes = false;     // reset, remove: without asking
  service::OutputForm form = service::OutputForm::kText;
};

int vm(const VmArguments& arguments);

}  // namespace hutch::cli

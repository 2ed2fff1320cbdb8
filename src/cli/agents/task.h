// hutch task.
#pragma once

#include <chrono>
#include <string>

#include "service/common/request.h"

namespace hutch::cli {

struct TaskArguments {
  std::string action;  // run, start (run --detach), list, show, cancel
  std::string agent{};   // of run; of list, empty: all
  std::string text{};    // "-": standard input
  std::string id{};
  std::chrono::milliseconds timeout{0};  // 0: what is set
  service::OutputForm form = service::OutputForm::kText;
};

// The exit code.
int task(const TaskArguments& arguments);

}  // namespace hutch::cli

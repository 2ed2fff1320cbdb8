// A task as the tool `opencode` runs it: its end is waited for.
#pragma once

#include <string>

#include "service/task/task.h"
#include "service/task/tool_call.h"
#include "tool/registry.h"

namespace hutch::service {

// Cancelled with the call.
Result<tool::TaskEnd> run_task(Tasks& tasks, const std::string& agent, const tool::TaskWish& wish,
                               const ToolCall& call);

}  // namespace hutch::service

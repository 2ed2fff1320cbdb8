// The coding agent of an agent's record as the command of a task. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/agent_record.h"

namespace hutch::service {

// Where the task's text goes in an argument of the coding agent.
inline constexpr std::string_view kTaskPlaceholder = "{task}";
inline constexpr std::size_t kTaskTextBytesMax = 96 << 10;  // one argument has 128 KiB at most (execve(2))
inline constexpr std::size_t kCodeAgentWordsMax = 256;      // arguments, and variables
inline constexpr std::size_t kCodeAgentWordBytesMax = 32 << 10;

// Whether it can be set so: names of variables, NUL, sizes.
Status check_code_agent(const store::CodeAgent& agent);

// The command with the text as one argument, or within one: in place of {task}, else as the last. No shell reads it.
// Code::kUnsupported where the agent has no command. A text that the command could take for an option is an error.
Result<std::vector<std::string>> task_command(const store::CodeAgent& agent, const std::string& name,
                                              std::string_view text);

std::vector<std::string> task_environment(const store::CodeAgent& agent);  // "K=V"

}  // namespace hutch::service

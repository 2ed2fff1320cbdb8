// opencode: a task for the agent's own coding agent.
#include "tool/excerpt.h"
#include "tool/handlers.h"
#include "tool/steps.h"

namespace hutch::tool {

Envelope run_coding_agent(const Call& call) {
  CallContext& context = call.context;
  if (!context.run_task)
    return final_failure(Kind::kUnavailable, "There are no tasks here: this sandbox has no agent.");
  if (std::optional<Envelope> refused = take_command(call)) return std::move(*refused);
  TaskWish wish{.text = call.arguments.text("task")};
  if (const auto timeout = call.arguments.number("timeout")) wish.timeout = std::chrono::seconds(*timeout);
  const Result<TaskEnd> task = context.run_task(wish);
  end_command(call);
  if (!task && task.error().code == Code::kInvalidArgument) {
    return bad_argument("task", task.error().message, "text that the coding agent can take as one argument");
  }
  if (!task) return failed("Failed to run the coding agent", task.error(), Retry::kYes);
  Value::Object result = {{"task_id", task->id},
                          {"stdout", excerpt(task->command.output, kOutputCharacters)},
                          {"stderr", excerpt(task->command.error, kErrorCharacters)},
                          {"exit_code", task->command.exit_code}};
  result.insert(task->files.begin(), task->files.end());
  return ended(task->command, task->timeout, std::move(result));
}

}  // namespace hutch::tool

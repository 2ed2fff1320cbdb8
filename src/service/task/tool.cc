// A task as the tool `opencode` runs it.
#include "service/task/tool.h"

#include <stop_token>

#include "base/limits.h"
#include "service/agent/sandbox_place.h"
#include "service/agent/scrubber.h"
#include "service/task/changes.h"

namespace hutch::service {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTaskSlice{100};

// Of one whose sandbox did not start, or that was cancelled before its turn came.
Result<tool::TaskEnd> without_process(const store::TaskRecord& record) {
  if (record.status != store::TaskStatus::kCancelled) return fail(Error{Code::kSystem, 0, record.reason});
  tool::TaskEnd ended{.id = record.id};
  ended.command.killed = true;
  ended.command.exit_code = static_cast<int>(record.exit_code);
  return ended;
}

}  // namespace

Result<tool::TaskEnd> run_task(Tasks& tasks, const std::string& agent, const tool::TaskWish& wish,
                               const ToolCall& call) {
  const auto task = TRY(tasks.begin({.agent = agent, .text = wish.text, .timeout = wish.timeout}));
  const std::stop_callback cancelled(call.stop, [&] { task->cancel(); });
  while (!task->process() && !task->wait(kTaskSlice)) {}
  const auto process = task->process();
  if (process && call.on_output) follow_output(*process, call.on_output);
  while (!task->wait(kTaskSlice)) {}
  const store::TaskRecord record = task->record();
  const auto end = process ? process->end() : std::nullopt;
  if (!end) return without_process(record);
  const secret::Scrubber scrubber = call.agents != nullptr ? scrubber_of(*call.agents, agent) : secret::Scrubber({});
  tool::TaskEnd ended{.id = record.id, .command = command_end(*process, *end, scrubber)};
  ended.timeout = std::chrono::ceil<std::chrono::seconds>(milliseconds(record.timeout_ms));
  const auto changes = tool::parse_value(record.changes, limits::kFrameBytesMax);
  if (const auto* files = changes ? changes->get<tool::Value::Object>() : nullptr) ended.files = *files;
  return ended;
}

}  // namespace hutch::service

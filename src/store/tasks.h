// The tasks of agents' coding agents, in the database: those that run, and the last of those that have ended.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace hutch::store {

enum class TaskStatus { kQueued, kRunning, kSucceeded, kFailed, kCancelled, kTimedOut };
std::string_view name_of(TaskStatus status);  // "queued", ..., "timed_out"
bool has_ended(TaskStatus status);

struct TaskRecord {
  std::string id{};  // UUID
  std::string agent{};
  std::string text{};
  TaskStatus status = TaskStatus::kQueued;
  std::string created{};  // format_time
  std::string started{};  // empty: not yet
  std::string ended{};
  std::int64_t timeout_ms = 0;
  std::int64_t duration_ms = 0;  // of its command
  std::int64_t exit_code = 0;    // once it has ended
  std::string pid{};               // of its process, as `hutch ps` has it; empty: it had none
  std::string reason{};            // why it failed without, or beside, an exit code
  std::string output{};            // the end of what it printed
  std::string error{};
  std::string changes{};           // JSON; empty: not known
  bool operator==(const TaskRecord&) const = default;
};

// So many that have ended are kept, of each agent and of all.
inline constexpr std::int64_t kEndedTasksOfAgentMax = 100;
inline constexpr std::int64_t kEndedTasksMax = 1000;
// Of a task's text, in a list.
inline constexpr std::int64_t kListedTextMax = 400;

// Any thread may use it.
class Tasks {
 public:
  // The database of `data`, as Agents has it.
  static Result<std::unique_ptr<Tasks>> open(const std::string& data);
  explicit Tasks(Database database) : database_(std::move(database)) {}

  // Forgets ended ones that are too many.
  Status add(const TaskRecord& task);
  Status update(const TaskRecord& task);
  // Code::kNotFound. An empty agent is any; of another agent there is none.
  Result<TaskRecord> find(const std::string& agent, const std::string& id);
  // In the order in which they were added, their texts cut, without output and changes.
  Result<std::vector<TaskRecord>> list(const std::string& agent);
  // Those that a daemon left behind which is no more: they have failed, for that reason.
  Status end_abandoned(std::string_view reason, std::string_view now);
  Status forget(const std::string& agent);

 private:
  std::mutex mutex_;
  Database database_;
};

}  // namespace hutch::store

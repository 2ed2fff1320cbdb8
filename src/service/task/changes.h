// Which files of an agent's have changed while something ran, and tasks as whoever asks is told of them.
#pragma once

#include <string>
#include <vector>

#include "sandbox/tree/changes.h"
#include "service/agent/places.h"
#include "store/tasks.h"
#include "tool/value.h"

namespace hutch::service {

// Looks at the directories when it is made.
class ChangesWatch {
 public:
  explicit ChangesWatch(std::vector<WatchedPlace> places);
  // And again.
  sandbox::TreeChanges changes() const;
  // {"files_changed": [{path, change, files?}], "files_changed_count", "files_truncated"}
  std::string changes_json() const;

 private:
  const std::vector<WatchedPlace> places_;
  std::vector<sandbox::TreeListing> before_;
};

// {id, agent, text, status, created, started, ended, timeout_ms, duration_ms, exit_code, pid, reason, and of one that
// is not in a list: stdout, stderr, and the members of changes_json}; what is not known yet is left out.
enum class TaskForm { kListed, kWhole };
tool::Value::Object task_object(const store::TaskRecord& task, TaskForm form);
// Without what its agent keeps secret, which it may have been told, or have made files of.
class AgentService;
tool::Value::Object shown_task(AgentService& agents, const store::TaskRecord& task, TaskForm form);

}  // namespace hutch::service

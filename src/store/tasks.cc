// Tasks in the database.
#include "store/tasks.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace hutch::store {

namespace {

constexpr const char* kTasksSchema =
    "CREATE TABLE IF NOT EXISTS tasks (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " agent TEXT NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL, created TEXT NOT NULL, started TEXT NOT NULL,"
    " ended TEXT NOT NULL, timeout_ms INTEGER NOT NULL, duration_ms INTEGER NOT NULL, exit_code INTEGER NOT NULL,"
    " pid TEXT NOT NULL, reason TEXT NOT NULL, output TEXT NOT NULL, error TEXT NOT NULL, changes TEXT NOT NULL)"
    " STRICT;"
    "CREATE INDEX IF NOT EXISTS tasks_of_agent ON tasks (agent, number);";

struct NamedStatus {
  TaskStatus status;
  std::string_view name;
};
constexpr std::array kStatuses = {
    NamedStatus{TaskStatus::kQueued, "queued"},       NamedStatus{TaskStatus::kRunning, "running"},
    NamedStatus{TaskStatus::kSucceeded, "succeeded"}, NamedStatus{TaskStatus::kFailed, "failed"},
    NamedStatus{TaskStatus::kCancelled, "cancelled"}, NamedStatus{TaskStatus::kTimedOut, "timed_out"}};

TaskStatus status_of(std::string_view name) {
  const auto found = std::ranges::find(kStatuses, name, &NamedStatus::name);
  return found == kStatuses.end() ? TaskStatus::kFailed : found->status;
}

TaskRecord read_task(const Statement& row) {
  return {.id = row.text(0),
          .agent = row.text(1),
          .text = row.text(2),
          .status = status_of(row.text(3)),
          .created = row.text(4),
          .started = row.text(5),
          .ended = row.text(6),
          .timeout_ms = row.number(7),
          .duration_ms = row.number(8),
          .exit_code = row.number(9),
          .pid = row.text(10),
          .reason = row.text(11),
          .output = row.text(12),
          .error = row.text(13),
          .changes = row.text(14)};
}

// In the order of the columns of read_row, from 1 on.
Statement& bind_row(Statement& statement, const TaskRecord& task) {
  return statement.bind(1, task.id)
      .bind(2, task.agent)
      .bind(3, task.text)
      .bind(4, name_of(task.status))
      .bind(5, task.created)
      .bind(6, task.started)
      .bind(7, task.ended)
      .bind(8, task.timeout_ms)
      .bind(9, task.duration_ms)
      .bind(10, task.exit_code)
      .bind(11, task.pid)
      .bind(12, task.reason)
      .bind(13, task.output)
      .bind(14, task.error)
      .bind(15, task.changes);
}

}  // namespace

std::string_view name_of(TaskStatus status) { return std::ranges::find(kStatuses, status, &NamedStatus::status)->name; }

bool has_ended(TaskStatus status) { return status != TaskStatus::kQueued && status != TaskStatus::kRunning; }

Result<std::unique_ptr<Tasks>> Tasks::open(const std::string& data) {
  Database database = TRY(Database::open(cat({data, "/hutch.db"})));
  TRY(database.execute(kTasksSchema));
  return std::make_unique<Tasks>(std::move(database));
}

Status Tasks::add(const TaskRecord& task) {
  const std::scoped_lock lock(mutex_);
  Statement insert = TRY(database_.prepare(
      "INSERT INTO tasks (id, agent, text, status, created, started, ended, timeout_ms, duration_ms, exit_code, pid,"
      " reason, output, error, changes) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)"));
  TRY(bind_row(insert, task).run());
  Statement forget = TRY(database_.prepare(
      "DELETE FROM tasks WHERE status NOT IN ('queued','running') AND"
      " ((agent = ?1 AND number NOT IN (SELECT number FROM tasks WHERE agent = ?1 AND status NOT IN"
      "   ('queued','running') ORDER BY number DESC LIMIT ?2))"
      " OR number NOT IN (SELECT number FROM tasks WHERE status NOT IN ('queued','running') ORDER BY number DESC"
      "   LIMIT ?3))"));
  return forget.bind(1, task.agent).bind(2, kEndedTasksOfAgentMax).bind(3, kEndedTasksMax).run();
}

Status Tasks::update(const TaskRecord& task) {
  const std::scoped_lock lock(mutex_);
  Statement update = TRY(database_.prepare(
      "UPDATE tasks SET agent=?2, text=?3, status=?4, created=?5, started=?6, ended=?7, timeout_ms=?8, duration_ms=?9,"
      " exit_code=?10, pid=?11, reason=?12, output=?13, error=?14, changes=?15 WHERE id=?1"));
  return bind_row(update, task).run();
}

Result<TaskRecord> Tasks::find(const std::string& agent, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  Statement select = TRY(database_.prepare(
      "SELECT id, agent, text, status, created, started, ended, timeout_ms, duration_ms, exit_code, pid, reason,"
      " output, error, changes FROM tasks WHERE id = ?1 AND (?2 = '' OR agent = ?2)"));
  select.bind(1, id).bind(2, agent);
  if (TRY(select.step())) return read_task(select);
  const std::string whose =
      agent.empty() ? std::string("there is no") : cat({"agent ", printable(agent, 64), " has no"});
  return fail(Error::not_found(cat({whose, " task ", printable(id, 64), "; hutch task list shows them"})));
}

Result<std::vector<TaskRecord>> Tasks::list(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  std::vector<TaskRecord> all;
  Statement select = TRY(database_.prepare(
      "SELECT id, agent, substr(text, 1, ?2), status, created, started, ended, timeout_ms, duration_ms, exit_code,"
      " pid, reason, '', '', '' FROM tasks WHERE ?1 = '' OR agent = ?1 ORDER BY number"));
  select.bind(1, agent).bind(2, kListedTextMax);
  while (TRY(select.step())) all.push_back(read_task(select));
  return all;
}

Status Tasks::end_abandoned(std::string_view reason, std::string_view now) {
  const std::scoped_lock lock(mutex_);
  Statement update = TRY(database_.prepare(
      "UPDATE tasks SET status='failed', reason=?1, ended=?2, exit_code=125 WHERE status IN ('queued','running')"));
  return update.bind(1, reason).bind(2, now).run();
}

Status Tasks::forget(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  Statement remove = TRY(database_.prepare("DELETE FROM tasks WHERE agent = ?1"));
  return remove.bind(1, agent).run();
}

}  // namespace hutch::store

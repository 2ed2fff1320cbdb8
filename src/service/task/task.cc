// Tasks of agents' coding agents.
#include "service/task/task.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "service/agent/code_agent.h"
#include "service/common/scrubbed_output.h"
#include "service/common/scrubbed_value.h"
#include "service/task/changes.h"
#include "store/agents.h"
#include "store/record.h"
#include "sys/process/threads.h"

namespace hutch::service {

namespace {

using sandbox::Process;
using std::chrono::milliseconds;
using store::TaskStatus;

constexpr std::string_view kAbandoned = "the daemon ended while it ran";
// Beyond a command's own limit: TERM, the grace, KILL, and what the machine takes for it.
constexpr milliseconds kTaskEndWait = 10 * limits::kTermGrace;

std::string task_time() {
  return store::format_time(std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()));
}

std::string last_bytes(const secret::Scrubber& scrubber, const sandbox::Capture& captured, secret::Cut end) {
  tool::Kept whole{captured.head(), std::string(captured.tail()), captured.bytes_left_out()};
  scrub(scrubber, whole, end);
  std::string kept = whole.whole();
  if (kept.size() > kTaskOutputMax) kept.erase(0, kept.size() - kTaskOutputMax);
  return kept;
}

TaskStatus task_status(const sandbox::ProcessEnd& end, const std::stop_token& cancelled) {
  if (sandbox::is_timeout(end.ended_by)) return TaskStatus::kTimedOut;
  if (cancelled.stop_requested() && sandbox::is_killed(end.ended_by)) return TaskStatus::kCancelled;
  return end.exit_code == 0 ? TaskStatus::kSucceeded : TaskStatus::kFailed;
}

Result<milliseconds> timeout_of(const Tasks::Wish& wish, const AgentService& agents) {
  if (!wish.timeout) {
    const auto set = TRY(agents.settings()).sandbox.timeout;
    return set ? milliseconds(std::chrono::seconds(*set)) : milliseconds(kTaskTimeout);
  }
  if (wish.timeout->count() >= 1 && *wish.timeout <= kTaskTimeoutMax) return *wish.timeout;
  return fail(Error::invalid("a task's timeout is more than 0 and at most 24 hours"));
}

}  // namespace

store::TaskRecord Task::record() const {
  const std::scoped_lock lock(mutex_);
  return record_;
}

bool Task::has_ended() const {
  const std::scoped_lock lock(mutex_);
  return store::has_ended(record_.status);
}

bool Task::wait(milliseconds at_most) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return store::has_ended(record_.status); });
}

std::shared_ptr<Process> Task::process() const {
  const std::scoped_lock lock(mutex_);
  return process_;
}

Result<std::unique_ptr<Tasks>> Tasks::open(AgentService& agents, std::function<void(const std::string&)> tell) {
  auto store = TRY(store::Tasks::open(agents.dirs().data));
  TRY(store->end_abandoned(kAbandoned, task_time()));
  return std::make_unique<Tasks>(std::move(store), agents, std::move(tell));
}

Result<std::shared_ptr<Task>> Tasks::begin(const Wish& wish) {
  const store::CodeAgent agent = TRY(agents_.show(wish.agent)).record.code_agent;
  auto command = TRY(task_command(agent, wish.agent, wish.text));
  store::TaskRecord record{.agent = wish.agent, .text = wish.text, .created = task_time()};
  record.id = TRY(store::new_uuid());
  record.timeout_ms = TRY(timeout_of(wish, agents_)).count();
  const auto task = std::make_shared<Task>(std::move(record));
  task->command_ = std::move(command);
  task->environment_ = task_environment(agent);
  TRY(enqueue(task));
  const Status started = start_thread(task);
  if (!started) {
    leave(task);
    return fail(started.error());
  }
  return task;
}

Status Tasks::enqueue(const std::shared_ptr<Task>& task) {
  const std::scoped_lock lock(mutex_);
  if (ending_) return fail(Error{Code::kConflict, 0, "the daemon leaves"});
  const std::string& agent = task->record_.agent;
  const auto known = queues_.find(agent);
  const std::size_t before = known == queues_.end() ? 0 : known->second.size();
  if (before > kQueuedTasksMax || open_ >= kOpenTasksMax) {
    const bool own = before > kQueuedTasksMax;
    return fail(Error{
        Code::kConflict, 0,
        cat({own ? cat({"agent ", agent}) : std::string("this daemon"), " has ", std::to_string(own ? before : open_),
             " tasks that have not ended; wait for one, or end it by hutch task cancel"})});
  }
  queues_[agent].push_back(task);
  ++open_;
  return {};
}

Status Tasks::start_thread(const std::shared_ptr<Task>& task) {
  TRY(store_->add(task->record()));
  auto thread = sys::start_thread([this, task] {
    carry_out(task);
    leave(task);
  });
  if (thread) {
    thread->detach();
    return {};
  }
  finish(*task, fail(thread.error()));
  return fail(thread.error());
}

// The last that its thread does: whoever waits for the last of them may end this object then.
void Tasks::leave(const std::shared_ptr<Task>& task) {
  const std::scoped_lock lock(mutex_);
  const auto queue = queues_.find(task->record_.agent);
  std::erase(queue->second, task);
  if (queue->second.empty()) queues_.erase(queue);
  --open_;
  changed_.notify_all();
}

std::shared_ptr<Task> Tasks::find_open(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [agent, queue] : queues_) {
    for (const auto& task : queue) {
      if (task->record_.id == id) return task;
    }
  }
  return nullptr;
}

Tasks::Turn Tasks::await_turn(const std::shared_ptr<Task>& task) {
  std::unique_lock lock(mutex_);
  const std::string& agent = task->record_.agent;
  const bool mine = changed_.wait(lock, task->stop_.get_token(), [&] { return queues_.at(agent).front() == task; });
  return mine && !task->stop_.stop_requested() ? Turn::kMine : Turn::kCancelled;
}

void Tasks::carry_out(const std::shared_ptr<Task>& task) {
  Status done;
  if (await_turn(task) == Turn::kMine) done = run(*task);
  finish(*task, done);
}

Status Tasks::run(Task& task) {
  const auto agent = TRY(agents_.sandbox(task.record_.agent));
  const auto until = std::chrono::steady_clock::now() + milliseconds(task.record_.timeout_ms);
  if (TRY(agent->await(until, task.stop_.get_token())) != AgentSandbox::Ready::kYes) {
    if (task.stop_.stop_requested()) return {};
    return fail(Error{Code::kTimeout, 0, "the sandbox does not start in time"});
  }
  auto resident = TRY(agent->resident());
  return follow(task, *agent, std::move(resident));
}

Status Tasks::follow(Task& task, AgentSandbox& agent, std::shared_ptr<sandbox::Resident> resident) {
  sandbox::ProcessRequest request = TRY(agent.request(task.command_, "", task.environment_));
  request.timeout = milliseconds(task.record_.timeout_ms);
  const ChangesWatch watch(agent.watched());
  const auto process = TRY(resident->spawn(std::move(request), sandbox::Input::kNone));
  {
    const std::scoped_lock lock(task.mutex_);
    task.process_ = process;
  }
  store::TaskRecord record = task.record();
  record.status = TaskStatus::kRunning;
  record.started = task_time();
  record.pid = process->id();
  publish(task, record);
  const std::stop_callback cancelled(task.stop_.get_token(),
                                     [&] { resident->end(process, sandbox::EndedBy::kSignal); });
  const auto end = process->wait(Process::Clock::now() + milliseconds(task.record_.timeout_ms) + kTaskEndWait);
  if (!end) return fail(Error{Code::kTimeout, 0, "the command does not end"});
  // What is kept of it holds no value of a secret, whatever it printed or called a file.
  const auto scrubber = agent.secrets().scrubber();
  const auto changes = tool::parse_value(watch.changes_json(), limits::kFrameBytesMax);
  record.changes = changes ? tool::json_text(scrubbed(*scrubber, *changes)) : std::string();
  record.exit_code = end->exit_code;
  record.duration_ms = end->duration.count();
  record.reason = end->reason;
  record.output = last_bytes(*scrubber, process->captured(sandbox::OutputStream::kOutput), cut_of(*end));
  record.error = last_bytes(*scrubber, process->captured(sandbox::OutputStream::kError), cut_of(*end));
  record.ended = task_time();
  record.status = task_status(*end, task.stop_.get_token());
  publish(task, std::move(record));
  return {};
}

void Tasks::finish(Task& task, const Status& run) {
  if (task.has_ended()) return;
  store::TaskRecord record = task.record();
  if (!run) record.reason = run.error().message;
  record.exit_code = 125;
  record.ended = task_time();
  const bool cancelled = run.has_value() || task.stop_.stop_requested();
  record.status = cancelled ? TaskStatus::kCancelled : TaskStatus::kFailed;
  publish(task, std::move(record));
}

// The database first: whoever has been told of an end finds it in every list.
void Tasks::publish(Task& task, store::TaskRecord record) {
  const Status saved = store_->update(record);
  if (!saved && tell_) tell_(cat({"task ", record.id, ": ", saved.error().message}));
  const std::scoped_lock lock(task.mutex_);
  task.record_ = std::move(record);
  task.changed_.notify_all();
}

Result<store::TaskRecord> Tasks::show(const std::string& agent, const std::string& id) {
  store::TaskRecord kept = TRY(store_->find(agent, id));
  const auto open = find_open(id);
  return open ? open->record() : std::move(kept);
}

Result<std::vector<store::TaskRecord>> Tasks::list(const std::string& agent) {
  if (!agent.empty()) TRY(agents_.show(agent));
  return store_->list(agent);
}

Result<store::TaskRecord> Tasks::cancel(const std::string& agent, const std::string& id) {
  TRY(store_->find(agent, id));
  const auto open = find_open(id);
  if (!open) return store_->find(agent, id);
  open->cancel();
  if (!open->wait(kTaskEndWait)) return fail(Error{Code::kTimeout, 0, cat({"task ", id, " does not end"})});
  return open->record();
}

void Tasks::forget(const std::string& agent) {
  const Status forgotten = store_->forget(agent);
  if (!forgotten && tell_) tell_(cat({"tasks of agent ", agent, ": ", forgotten.error().message}));
}

std::size_t Tasks::busy() const {
  const std::scoped_lock lock(mutex_);
  return open_;
}

void Tasks::end_all() {
  std::unique_lock lock(mutex_);
  ending_ = true;
  std::vector<std::shared_ptr<Task>> all;
  for (const auto& [agent, queue] : queues_) all.insert(all.end(), queue.begin(), queue.end());
  lock.unlock();
  // Without the lock: what is told at once takes it.
  for (const auto& task : all) task->cancel();
  lock.lock();
  changed_.wait(lock, [&] { return open_ == 0; });
}

}  // namespace hutch::service

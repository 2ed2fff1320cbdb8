// Calls about tasks of agents' coding agents.
#include <array>

#include "base/text.h"
#include "server/rpc/session.h"
#include "service/task/changes.h"
#include "service/task/task.h"
#include "wire/daemon.h"

namespace hutch::server {

namespace {

using sandbox::Process;
using service::TaskForm;
using std::chrono::milliseconds;

constexpr milliseconds kIdleSlice{20};  // of a task that has no process yet, or has one no more
constexpr milliseconds kTaskFollowSlice{500};

Value whole(Session& session, const store::TaskRecord& record) {
  return Value(service::shown_task(session.shared().agents, record, TaskForm::kWhole));
}

Result<std::shared_ptr<service::Task>> begin_task(Session& session, const CallReader& call) {
  service::Tasks::Wish wish{.agent = TRY(call.text("agent")), .text = TRY(call.text("text"))};
  const std::int64_t timeout = TRY(call.number("timeout_ms", 0));
  if (timeout != 0) wish.timeout = milliseconds(timeout);
  return session.shared().tasks.begin(wish);
}

// What has been printed since; whether there was anything.
Result<bool> tell_task_output(Session& session, const Process& process, std::array<std::uint64_t, 2>& next) {
  bool any = false;
  for (const auto stream : {sandbox::OutputStream::kOutput, sandbox::OutputStream::kError}) {
    const bool is_output = stream == sandbox::OutputStream::kOutput;
    const Process::Read read = process.read(stream, next[is_output ? 0 : 1], Process::Clock::now());
    next[is_output ? 0 : 1] = read.piece.next;
    if (read.piece.bytes.empty()) continue;
    any = true;
    TRY(session.tell(Value(Value::Object{{"stream", is_output ? "stdout" : "stderr"},
                                         {"skipped", read.piece.skipped},
                                         {"bytes", wire::text_of_bytes(read.piece.bytes)}})));
  }
  return any;
}

// Until it has ended, or the client has gone.
Result<bool> follow_task(Session& session, const service::Task& task) {
  std::shared_ptr<Process> process;
  UniqueFd changed;
  std::array<std::uint64_t, 2> next{};
  for (;;) {
    const bool over = task.has_ended();
    if (!process) {
      process = task.process();
      if (process) changed = TRY(process->notice(Process::Notice::kChange));
    }
    if (process && TRY(tell_task_output(session, *process, next))) continue;
    if (over) return true;
    const bool runs = process && !process->end();
    if (TRY(session.hear(runs ? changed.get() : -1, runs ? kTaskFollowSlice : kIdleSlice)).gone) return false;
    if (changed) Process::clear(changed.get());
  }
}

// The client's end is the task's.
Result<Value> run_task(Session& session, const CallReader& call) {
  const auto task = TRY(begin_task(session, call));
  const auto followed = [&]() -> Result<bool> {
    TRY(session.tell(Value(Value::Object{{"task", task->record().id}})));
    return follow_task(session, *task);
  }();
  if (!followed || !*followed) task->cancel();
  TRY(followed);
  return whole(session, task->record());
}

Result<Value> start_task(Session& session, const CallReader& call) {
  return whole(session, TRY(begin_task(session, call))->record());
}

Result<Value> list_tasks(Session& session, const CallReader& call) {
  Value::List tasks;
  const std::string agent = TRY(call.optional_text("agent"));
  for (const auto& task : TRY(session.shared().tasks.list(agent))) {
    tasks.emplace_back(service::shown_task(session.shared().agents, task, TaskForm::kListed));
  }
  return Value(std::move(tasks));
}

Result<Value> show_task(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  return whole(session, TRY(session.shared().tasks.show("", id)));
}

Result<Value> cancel_task(Session& session, const CallReader& call) {
  const std::string id = TRY(call.text("id"));
  return whole(session, TRY(session.shared().tasks.cancel("", id)));
}

constexpr std::array kTaskVerbs = {Verb{"task.run", run_task}, Verb{"task.start", start_task},
                                   Verb{"task.list", list_tasks}, Verb{"task.show", show_task},
                                   Verb{"task.cancel", cancel_task}};

}  // namespace

std::span<const Verb> task_verbs() { return kTaskVerbs; }

}  // namespace hutch::server

// Tasks: what an agent's own coding agent is told to do, from the request to the report of what it changed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/resident/process.h"
#include "service/agent/agents.h"
#include "store/tasks.h"

namespace hutch::service {

// One of an agent runs at a time, so that what changed meanwhile is its own; so many wait.
inline constexpr std::size_t kQueuedTasksMax = 16;
inline constexpr std::size_t kOpenTasksMax = 256;  // of all agents: each takes a thread
inline constexpr std::chrono::seconds kTaskTimeout{300};
inline constexpr std::chrono::hours kTaskTimeoutMax{24};
// Of each stream, in its record; all that is kept of it `hutch logs` has, as long as the sandbox runs.
inline constexpr std::size_t kTaskOutputMax = 16 << 10;

// One that was begun by this daemon. Any thread may use it.
class Task {
 public:
  explicit Task(store::TaskRecord record) : record_(std::move(record)) {}

  store::TaskRecord record() const;
  bool has_ended() const;
  bool wait(std::chrono::milliseconds at_most) const;  // whether it has ended
  std::shared_ptr<sandbox::Process> process() const;   // null until it has one
  // It ends with all that it started, soon; nothing where it has ended.
  void cancel() { stop_.request_stop(); }

 private:
  friend class Tasks;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  store::TaskRecord record_;
  std::shared_ptr<sandbox::Process> process_;
  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  std::stop_source stop_;
};

// Any thread may use it.
class Tasks {
 public:
  // What a daemon that was killed left running has failed.
  static Result<std::unique_ptr<Tasks>> open(AgentService& agents, std::function<void(const std::string&)> tell);
  Tasks(std::unique_ptr<store::Tasks> store, AgentService& agents, std::function<void(const std::string&)> tell)
      : store_(std::move(store)), agents_(agents), tell_(std::move(tell)) {}

  struct Wish {
    std::string agent;
    std::string text;
    std::optional<std::chrono::milliseconds> timeout{};  // of its command; else sandbox.defaults.timeout, else 300 s
  };
  // By the agent's codeAgent as it is now; Code::kUnsupported where it has none.
  Result<std::shared_ptr<Task>> begin(const Wish& wish);

  // An empty agent is any; of another agent there is none.
  Result<store::TaskRecord> show(const std::string& agent, const std::string& id);
  Result<std::vector<store::TaskRecord>> list(const std::string& agent);
  // Waits for its end; one that had ended stays as it is.
  Result<store::TaskRecord> cancel(const std::string& agent, const std::string& id);

  void forget(const std::string& agent);  // it was removed
  std::size_t busy() const;
  // Cancels all, and waits until the last has gone.
  void end_all();

 private:
  enum class Turn { kMine, kCancelled };
  using Queues = std::map<std::string, std::deque<std::shared_ptr<Task>>>;

  Status enqueue(const std::shared_ptr<Task>& task);
  Status start_thread(const std::shared_ptr<Task>& task);
  void leave(const std::shared_ptr<Task>& task);
  std::shared_ptr<Task> find_open(const std::string& id) const;
  Turn await_turn(const std::shared_ptr<Task>& task);
  void carry_out(const std::shared_ptr<Task>& task);
  Status run(Task& task);
  Status follow(Task& task, AgentSandbox& agent, std::shared_ptr<sandbox::Resident> resident);
  void finish(Task& task, const Status& run);
  void publish(Task& task, store::TaskRecord record);

  std::unique_ptr<store::Tasks> store_;
  AgentService& agents_;
  const std::function<void(const std::string&)> tell_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Queues queues_;  // the first of each runs
  std::size_t open_ = 0;
  bool ending_ = false;
};

}  // namespace hutch::service

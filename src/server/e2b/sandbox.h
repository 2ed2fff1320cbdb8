// One sandbox of the E2B-compatible API: what was said of it, its state, its processes, its log.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/e2b/directory_watch.h"
#include "server/e2b/followed_process.h"
#include "server/e2b/key_memory.h"
#include "service/agent/agents.h"
#include "store/e2b_sandboxes.h"
#include "tool/value.h"

namespace hutch::server {

// Any thread may use it.
class E2bSandbox {
 public:
  using Time = std::chrono::system_clock::time_point;

  explicit E2bSandbox(store::E2bRecord record) : owner_(record.owner), record_(std::move(record)) {}

  const std::string& owner() const { return owner_; }

  store::E2bRecord record() const;
  // The record is changed, and what it is then is the answer.
  store::E2bRecord change(const std::function<void(store::E2bRecord& record)>& change);
  static std::string agent_of(const std::string& id);
  std::string agent() const { return agent_of(record().id); }
  std::vector<std::string> environment() const;  // "K=V": its variables

  // Held by whoever changes its record, or ends it.
  std::mutex& life() { return life_; }

  // --- processes ---

  Status check_room();  // for one more
  void add(const std::shared_ptr<FollowedProcess>& process);
  // One that has ended is found as long as it is remembered. Code::kNotFound.
  Result<std::shared_ptr<FollowedProcess>> find(std::uint32_t pid);
  Result<std::shared_ptr<FollowedProcess>> tagged(const std::string& tag);
  std::vector<std::shared_ptr<FollowedProcess>> running();
  void forget_processes();

  // --- watchers that are asked for what has changed ---

  struct Watcher {
    Watcher(DirectoryWatch begun, std::shared_ptr<KeyMemory::Held> kept)
        : watch(std::move(begun)), held(std::move(kept)) {}
    std::mutex mutex;
    DirectoryWatch watch;
    const std::shared_ptr<KeyMemory::Held> held;  // for what it has seen
  };
  Result<std::string> add_watcher(DirectoryWatch watch, std::shared_ptr<KeyMemory::Held> held);
  Result<std::shared_ptr<Watcher>> watcher(const std::string& id);
  Status remove_watcher(const std::string& id);

  // --- its log ---

  struct Line {
    std::int64_t time_ms = 0;
    std::string_view level = "info";
    std::string message{};
  };
  void log(std::string message, std::string_view level = "info");
  std::vector<Line> lines() const;

 private:
  void forget_ended();  // but the last; with the lock held

  const std::string owner_;
  std::mutex life_;
  mutable std::mutex mutex_;
  store::E2bRecord record_;
  std::deque<std::shared_ptr<FollowedProcess>> processes_;  // in the order of their starts
  std::map<std::string, std::shared_ptr<Watcher>> watchers_;
  std::deque<Line> lines_;
  std::size_t line_bytes_ = 0;
};

std::int64_t now_ms();

}  // namespace hutch::server

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
#include "server/directory_watch.h"
#include "server/followed_process.h"
#include "service/agents.h"
#include "store/e2b_sandboxes.h"
#include "tool/value.h"

namespace hutch::server {

// Any thread may use it.
class E2bSandbox {
 public:
  using Time = std::chrono::system_clock::time_point;

  explicit E2bSandbox(store::E2bRecord record) : record_(std::move(record)) {}

  store::E2bRecord record() const;
  // The record is changed, and what it is then is the answer.
  store::E2bRecord change(const std::function<void(store::E2bRecord& record)>& change);
  static std::string agent_of(const std::string& id);
  std::string agent() const { return agent_of(record().id); }
  std::vector<std::string> environment() const;  // "K=V": its variables

  // Held by whoever changes its record, or ends it.
  std::mutex& life() { return life_; }

  // --- processes ---

  Status check_room() const;  // for one more
  void add(const std::shared_ptr<FollowedProcess>& process);
  // One that has ended is found as long as it is remembered. Code::kNotFound.
  Result<std::shared_ptr<FollowedProcess>> find(std::uint32_t pid);
  Result<std::shared_ptr<FollowedProcess>> tagged(const std::string& tag);
  std::vector<std::shared_ptr<FollowedProcess>> running();
  void forget_processes();

  // --- watchers that are asked for what has changed ---

  struct Watcher {
    explicit Watcher(DirectoryWatch begun) : watch(std::move(begun)) {}
    std::mutex mutex;
    DirectoryWatch watch;
  };
  Result<std::string> add_watcher(DirectoryWatch watch);
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
  std::mutex life_;
  mutable std::mutex mutex_;
  store::E2bRecord record_;
  std::deque<std::shared_ptr<FollowedProcess>> processes_;  // in the order of their starts
  std::map<std::string, std::shared_ptr<Watcher>> watchers_;
  std::deque<Line> lines_;
};

std::int64_t now_ms();

}  // namespace hutch::server

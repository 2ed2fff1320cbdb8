// Checks repositories of git before and after changes in a persistent sandbox.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/resident_settings.h"
#include "service/git_after.h"
#include "service/prepare.h"

namespace hutch::service {

// The state when a command starts is the user's, unless anything ran in the sandbox since the last check. Thread-safe.
class GitWatch {
 public:
  // Whether hutch sees the processes in the sandbox. If not, some process may always run there.
  enum class Processes { kSeen, kNotSeen };
  // `data` is that of GitBefore. `tell` gets a line for each finding.
  GitWatch(Prepared prepared, std::string data, Processes processes, std::function<void(const std::string& line)> tell)
      : prepared_(std::move(prepared)), data_(std::move(data)), processes_(processes), tell_(std::move(tell)) {}

  // Call these in pairs: begins() before a change in the sandbox, ended() after it.
  void begins(sandbox::Others others);
  void ended(sandbox::Others others);
  // Call this before `root` becomes writable too.
  void widen(const std::string& root);
  // Call this when no process is left that may change files.
  void quiet();
  // Call this at the end: no process runs any more, or will.
  void over();

 private:
  // The caller holds the lock.
  bool is_idle(sandbox::Others others) const {
    return running_ == 0 && others == sandbox::Others::kNone && processes_ == Processes::kSeen;
  }
  void look();

  const Prepared prepared_;
  const std::string data_;
  const Processes processes_;
  const std::function<void(const std::string& line)> tell_;
  std::mutex mutex_;
  host::Listings seen_;
  std::vector<std::string> more_;
  std::unique_ptr<GitBefore> before_;  // from the first change whose processes may still run
  std::size_t running_ = 0;
  bool over_ = false;
};

}  // namespace hutch::service

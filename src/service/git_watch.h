// Looks at repositories of git around what changes files in a sandbox that stays.
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

// What is there when a command starts is the user's, unless anything ran in the sandbox since the last look. Any thread
// may use it.
class GitWatch {
 public:
  // Whether hutch sees what runs in the sandbox. Otherwise something may always run there.
  enum class Processes { kSeen, kNotSeen };
  // As GitBefore has `data`. `tell` gets a line for each thing that was found.
  GitWatch(Prepared prepared, std::string data, Processes processes, std::function<void(const std::string& line)> tell)
      : prepared_(std::move(prepared)), data_(std::move(data)), processes_(processes), tell_(std::move(tell)) {}

  // As often as each other: before something is changed there, and after.
  void begins(sandbox::Others others);
  void ended(sandbox::Others others);
  // Before `root` may be written as well.
  void widen(const std::string& root);
  // Nothing is left of what changed it.
  void quiet();
  // Nothing runs any more, nor will.
  void over();

 private:
  // With the lock held.
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
  std::unique_ptr<GitBefore> before_;  // the first of those that run, or left something that does
  std::size_t running_ = 0;
  bool over_ = false;
};

}  // namespace hutch::service

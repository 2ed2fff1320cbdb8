// Checks repositories of git before and after changes in a persistent sandbox.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/resident/resident_settings.h"
#include "service/common/prepared.h"
#include "service/git/after.h"

namespace hutch::service {

// The state when a command starts is the user's, unless anything ran in the sandbox since the last check. Thread-safe.
class GitWatch {
 public:
  // Whether hutch sees the processes in the sandbox. If not, some process may always run there.
  enum class Processes { kSeen, kNotSeen };
  // `data` is that of GitBefore. `tell` gets a line for each finding.
  GitWatch(Prepared prepared, std::string data, Processes processes, std::function<void(const std::string& line)> tell)
      : prepared_(std::move(prepared)),
        data_(std::move(data)),
        processes_(processes),
        is_announced_(GitBefore::is_announced(prepared_)),
        tell_(std::move(tell)) {}

  // Call these in pairs: begins() before a change in the sandbox, ended() after it. Returns whether something, another
  // change or a process that one left, may still change files.
  void begins(sandbox::Changes changes, const sandbox::Surroundings& now);
  sandbox::Others ended(const sandbox::Surroundings& now);
  // Call this before the first change if begins() was told of a supervisor that announces it.
  void changes();
  // Call this before `root` becomes writable too.
  void widen(const std::string& root);
  // Call this as GitBefore::works_in(), at any time.
  void works_in(const wire::Repository& repository);
  // Call this when no process is left that may change files.
  void quiet();
  // Call this at the end: no process runs any more, or will.
  void over();

 private:
  // The caller holds the lock.
  bool is_idle(const sandbox::Surroundings& now) const {
    return running_ == 0 && processes_ == Processes::kSeen && now.others() == sandbox::Others::kNone;
  }
  void note(const wire::Repository& repository);
  void remember();
  void look();
  void forget();

  const Prepared prepared_;
  const std::string data_;
  const Processes processes_;
  const bool is_announced_;  // each change, unless the supervisor works already
  const std::function<void(const std::string& line)> tell_;
  std::mutex mutex_;
  host::Listings seen_ = prepared_.listings;
  std::vector<std::string> more_;
  std::vector<wire::Repository> worked_in_;
  std::unique_ptr<GitBefore> before_;  // from the first change whose processes may still run
  std::unique_ptr<RunMark> mark_;  // while there is no `before_`, from the first one on
  std::size_t running_ = 0;
  bool over_ = false;
};

}  // namespace hutch::service

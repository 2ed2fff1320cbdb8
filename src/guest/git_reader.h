// Reads objects of git in a process of its own that may only read files: it parses what a sandbox has written.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/git_objects.h"
#include "sys/process.h"

namespace hutch::guest {

class GitReader {
 public:
  // `objects` as for GitStore. The calling process must have a single thread.
  static Result<GitReader> start(UniqueFd objects);

  // Nothing: the process has no such object, has ended, or does not answer before `until`. What it answers may be any
  // bytes: the caller checks their sum.
  std::optional<plan::GitObject> read(std::string_view name, std::chrono::steady_clock::time_point until);

 private:
  GitReader(sys::ChildProcess process, UniqueFd stream) : process_(std::move(process)), stream_(std::move(stream)) {}
  Result<plan::GitObject> ask(std::string_view name, std::chrono::steady_clock::time_point until) const;

  sys::ChildProcess process_;
  UniqueFd stream_;  // closed once the process has failed
};

}  // namespace hutch::guest

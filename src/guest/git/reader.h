// Reads objects of git in a process of its own that may only read files: it parses what a sandbox has written.
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"
#include "plan/git/objects.h"
#include "sys/process/process.h"
#include "wire/git_objects.h"

namespace hutch::guest {

class GitReader {
 public:
  // `objects` as for GitStore. The calling process must have a single thread.
  static Result<GitReader> start(UniqueFd objects);

  plan::GitObjectAnswer look_up(std::string_view name, std::chrono::steady_clock::time_point until) {
    return stream_.look_up(name, wire::GitObjectStream::Copies::kFirst, until);
  }
  bool answers() const { return stream_.answers(); }

 private:
  GitReader(sys::ChildProcess process, UniqueFd stream) : process_(std::move(process)), stream_(std::move(stream)) {}

  sys::ChildProcess process_;
  wire::GitObjectStream stream_;
};

// Answers what comes by `stream` from the store in `objects` until its end, in this process, which is confined first.
Status serve_git_objects(int stream, int objects);

}  // namespace hutch::guest

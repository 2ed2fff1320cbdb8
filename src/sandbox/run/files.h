// Files of a sandbox, asked of the guest's file server, which is as hostile as all that comes out of a sandbox.
#pragma once

#include <chrono>
#include <mutex>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/connection.h"
#include "wire/files.h"

namespace hutch::sandbox {

inline constexpr std::chrono::milliseconds kFileAnswerMax{30'000};

// For any number of threads: one request at a time.
class Files {
 public:
  // `server` is the host's end of the stream to a file server.
  explicit Files(UniqueFd server, std::chrono::milliseconds answer_max = kFileAnswerMax)
      : server_(std::move(server)), answer_max_(answer_max) {}

  // What was asked for; a FileFailed is the error. Paths of an answer stay below what was asked for. A server that
  // breaks a rule or the time limit (Code::kTimeout) is not asked again: then this is dead, and another one is wanted.
  Result<wire::FileReply> ask(const wire::FileRequest& request);

  // Of a regular file: open for writing, and nothing else of it is known.
  Result<UniqueFd> ask_for_file(const wire::AddToTree& file);

  bool is_dead() const;

 private:
  using Clock = std::chrono::steady_clock;
  Result<wire::FileReply> ask_locked(const wire::FileRequest& request);
  Result<wire::FileReply> exchange(const wire::FileRequest& request, std::string_view bytes);
  Status send(std::string_view bytes, Clock::time_point deadline);
  Result<wire::Frame> receive(Clock::time_point deadline);
  Status wait(short events, Clock::time_point deadline);

  mutable std::mutex mutex_;
  wire::Connection server_;
  std::chrono::milliseconds answer_max_;
  UniqueFd file_;  // that came with the last answer
  bool dead_ = false;
};

}  // namespace hutch::sandbox

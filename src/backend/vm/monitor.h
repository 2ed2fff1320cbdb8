// What QEMU is told while it runs: QEMU Machine Protocol Specification.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::backend::vm {

// The next line of what a descriptor says, without its end.
class Lines {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Lines(int fd) : fd_(fd) {}
  // Code::kTimeout when none has come by then.
  Result<std::string> next(Clock::time_point until, std::string_view what);

 private:
  int fd_;
  std::string kept_;
};

// A greeting, then for each command an answer; events come between, and are passed over. Whatever it says is QEMU's,
// which the machine may have taken over: it is of bounded size and depth.
class Monitor {
 public:
  // Of a QEMU that has just been started, within `patience` for each answer.
  static Result<Monitor> open(UniqueFd socket, std::chrono::seconds patience);

  // Both JSON; the answer is what it returns. Code::kSystem with QEMU's words where it refuses.
  Result<std::string> ask(const std::string& command, const std::string& arguments = {});
  // A descriptor that commands can name from here on.
  Status give(const std::string& name, int descriptor);

 private:
  Monitor(UniqueFd socket, std::chrono::seconds patience)
      : socket_(std::move(socket)), patience_(patience), lines_(socket_.get()) {}
  Result<std::string> tell(const std::string& command, const std::string& line, std::span<const int> descriptors);

  UniqueFd socket_;
  std::chrono::seconds patience_;
  Lines lines_;
};

}  // namespace hutch::backend::vm

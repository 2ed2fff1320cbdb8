// The daemon's lines on standard error. Nothing waits for whoever reads them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "sys/process/unwaiting.h"

namespace hutch::cli {

// Thread-safe. A line for which there is no room is lost, and the next line that is written says how many were.
class LogStream {
 public:
  explicit LogStream(int fd) : writer_(fd) {}
  void tell(const std::string& line);

 private:
  bool flush();

  std::mutex mutex_;
  sys::UnwaitingWriter writer_;
  std::string held_;  // the rest of a line of which a part was written
  std::uint64_t lost_ = 0;
};

}  // namespace hutch::cli

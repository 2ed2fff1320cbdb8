// The daemon's lines on standard error.
#include "cli/terminal/log_stream.h"

#include <cerrno>

#include "base/text.h"

namespace hutch::cli {

namespace {

constexpr std::size_t kToldBytesMax = 2000;

}  // namespace

void LogStream::tell(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (!flush()) {
    ++lost_;
    return;
  }
  if (lost_ > 0) held_ = cat({"hutch: ", std::to_string(lost_), " lines were lost: nobody read them\n"});
  lost_ = 0;
  held_ += cat({"hutch: ", printable(line, kToldBytesMax), "\n"});
  (void)flush();
}

// Whether all of it is written. Where nobody can ever read, nothing is kept.
bool LogStream::flush() {
  while (!held_.empty()) {
    const auto count = writer_.write(held_);
    if (!count && count.error().sys_errno == EAGAIN) return false;
    if (count) {
      held_.erase(0, *count);
    } else {
      held_.clear();
    }
  }
  return true;
}

}  // namespace hutch::cli

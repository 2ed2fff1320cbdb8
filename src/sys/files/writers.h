// Whether anybody can still write a file: fcntl(2) F_SETLEASE, inotify(7).
#pragma once

#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Whether the file is open for writing, or mapped so, anywhere. `fd` is open for reading only, and is of a file of this
// user.
Result<bool> has_writer(int fd);

// Readable once somebody has closed one of the files after writing.
class ClosingWatch {
 public:
  static Result<ClosingWatch> make();

  int fd() const { return fd_.get(); }
  // The watch ends with the last descriptor of a file without a name. The current directory must be a proc(5)
  // (sys::stay_in).
  Status add(int fd) const;
  void clear() const;

 private:
  explicit ClosingWatch(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace hutch::sys

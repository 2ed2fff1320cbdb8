// What wakes a thread that polls.
#pragma once

#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// eventfd(2): one descriptor where a pipe has two. Any thread may signal it.
class Event {
 public:
  static Result<Event> make();

  int fd() const { return fd_.get(); }  // readable while it is signalled
  void signal() const;
  void clear() const;

 private:
  explicit Event(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace hutch::sys

// Reading and writing that do not wait, at an end that others use as it is: no flag of it is changed. preadv2(2),
// tty(4).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// As read_some() and write_some() of one that is open with O_NONBLOCK. Where the kernel cannot (pipes before Linux 6.4)
// they are for right after poll(2) said that something is there, or room; of a pipe's room no more is taken than it has
// for sure (pipe(7), PIPE_BUF).
Result<std::size_t> read_now(int fd, std::span<char> into);
Result<std::size_t> write_now(int fd, std::string_view bytes);

// An open file description of its own for the same pipe or terminal, which never waits. By /proc/self/fd; for this
// process's controlling terminal also by /dev/tty, because after su(1) the terminal's file is another user's.
Result<UniqueFd> open_again(int fd);

// Writes to a descriptor that somebody else reads, and does not wait for them. `fd` must outlive this object. Files,
// and pipes and terminals that cannot be opened again, are written as they are.
class UnwaitingWriter {
 public:
  explicit UnwaitingWriter(int fd);
  // The number of bytes; EAGAIN if there is no room.
  Result<std::size_t> write(std::string_view bytes) const;
  int fd() const { return own_ ? own_.get() : fd_; }  // for poll(2)

 private:
  int fd_;
  UniqueFd own_;
  bool is_socket_ = false;
};

// Writes all of it. If nobody reads at the other end, it waits until somebody does. Once this process has been told to
// end by a signal that it blocks (SIGTERM, SIGINT, SIGHUP, SIGQUIT), it waits two seconds at most: EINTR.
Status write_until_told(int fd, std::string_view bytes);

}  // namespace hutch::sys

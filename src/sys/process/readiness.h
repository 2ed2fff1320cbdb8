// Waiting for many descriptors, and moving bytes between them in the kernel. epoll(7), splice(2), pipe(7).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

struct Readiness {
  std::uint64_t key = 0;
  bool readable = false;  // also at the end of a stream, and after an error
  bool writable = false;
  bool ended = false;   // the other side has shut down its writing, or all of it
  bool broken = false;  // both directions are at their end, or the descriptor has failed
};

class Epoll {
 public:
  static Result<Epoll> make();

  // Readable itself while one of its descriptors is ready.
  int fd() const { return fd_.get(); }

  struct Interest {
    bool read = false;
    bool write = false;
    bool operator==(const Interest&) const = default;
  };
  // `key` comes back with the readiness. Errors of a descriptor are told whatever the interest.
  Status add(int fd, Interest interest, std::uint64_t key) const;
  Status change(int fd, Interest interest, std::uint64_t key) const;
  void remove(int fd) const;

  // Fills `into` with what is ready; absent timeout: waits for ever.
  Result<std::size_t> wait(std::span<Readiness> into, std::optional<std::chrono::milliseconds> timeout) const;

 private:
  explicit Epoll(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

// Moves up to `bytes_max` bytes from a pipe to a descriptor or the other way, without copying them. 0 at the end,
// absent when nothing can be moved now.
Result<std::optional<std::size_t>> splice(int from, int to, std::size_t bytes_max);

// The size that a pipe has got after it was asked for; the kernel gives less to a user who has many (pipe(7)).
std::size_t resize_pipe(int pipe, std::size_t bytes);

// How many descriptors this process could have when this function, or the next, was first called: its children expect
// that number.
std::size_t usual_descriptor_limit();

// As many descriptors as the hard limit allows (getrlimit(2)). How many this process may have from then on.
std::size_t raise_descriptor_limit();

}  // namespace hutch::sys

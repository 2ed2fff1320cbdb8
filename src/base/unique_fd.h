// UniqueFd: the owner of one file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace hutch {

// Closes its descriptor when it goes. A raw `int fd` parameter elsewhere always means a borrowed one.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // close() is never retried: Linux has freed the number even when it answers EINTR (close(2)).
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

}  // namespace hutch

// One direction of two descriptors that are carried to each other; neither blocks.
#pragma once

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>

#include "sys/io.h"
#include "sys/process/shutdown.h"

namespace hutch::guest {

class Flow {
 public:
  static constexpr std::size_t kPieceBytes = 64 << 10;

  Flow(int from, int to) : from_(from), to_(to) {}
  bool reads() const { return waiting_.empty() && !ended_; }
  bool writes() const { return !waiting_.empty(); }
  bool has_ended() const { return ended_ && waiting_.empty(); }

  void read() {
    std::array<char, kPieceBytes> bytes;
    const auto size = sys::read_some(from_, bytes);
    if (!size && size.error().sys_errno == EAGAIN) return;
    ended_ = !size || *size == 0;
    if (!ended_) waiting_.assign(bytes.data(), *size);
    pass_on();
  }

  // Whoever takes nothing any more is told by what it does itself.
  void pass_on() {
    if (!waiting_.empty()) {
      const auto size = sys::write_some(to_, waiting_);
      if (!size && size.error().sys_errno == EAGAIN) return;
      waiting_.erase(0, size ? *size : waiting_.size());
      if (!size) ended_ = true;
    }
    if (has_ended()) (void)sys::shut_down(to_, sys::Direction::kWriting);
  }

 private:
  int from_;
  int to_;
  std::string waiting_;
  bool ended_ = false;
};

}  // namespace hutch::guest

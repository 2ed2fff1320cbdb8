// The Unix sockets that were bound inside the sandbox.
#pragma once

#include <cstddef>
#include <deque>
#include <set>

#include "sys/foreign_socket.h"

namespace hutch::guest {

// The last of them: a program can bind for ever, and forgets its sockets without a word.
class OwnSockets {
 public:
  static constexpr std::size_t kKept = 16384;

  void add(const sys::SocketIdentity& file) {
    if (!known_.insert(file).second) return;
    in_turn_.push_back(file);
    if (in_turn_.size() <= kKept) return;
    known_.erase(in_turn_.front());
    in_turn_.pop_front();
  }
  bool has(const sys::SocketIdentity& file) const { return known_.contains(file); }

 private:
  std::set<sys::SocketIdentity> known_;
  std::deque<sys::SocketIdentity> in_turn_;
};

}  // namespace hutch::guest

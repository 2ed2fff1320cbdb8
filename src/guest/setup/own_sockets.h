// The Unix sockets that were bound inside the sandbox.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "base/unique_fd.h"
#include "sys/net/foreign_socket.h"

namespace hutch::guest {

// The last of them: a program can bind for ever, and forgets its sockets without a word.
class OwnSockets {
 public:
  static constexpr std::size_t kKept = 16384;

  // Each takes a descriptor, of which this process may have `descriptors_max`.
  explicit OwnSockets(std::size_t descriptors_max) : kept_max_(std::min(kKept, descriptors_max / 4)) {}

  // `file` stays open: a file system may give the number of one that has gone to the next, of the host's too, whose
  // moment of birth is the same one until the kernel's coarse clock goes on (some milliseconds).
  void add(const sys::SocketIdentity& identity, UniqueFd file) {
    if (!known_.try_emplace(identity, std::move(file)).second) return;
    in_turn_.push_back(identity);
    if (in_turn_.size() <= kept_max_) return;
    known_.erase(in_turn_.front());
    in_turn_.pop_front();
  }
  bool has(const sys::SocketIdentity& identity) const { return known_.contains(identity); }

 private:
  std::size_t kept_max_;
  std::map<sys::SocketIdentity, UniqueFd> known_;
  std::deque<sys::SocketIdentity> in_turn_;
};

}  // namespace hutch::guest

// A connected pair of Unix sockets, and descriptors sent over one. socketpair(2), sendmsg(2), unix(7) SCM_RIGHTS.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::sys {

// Both ends close-on-exec, byte stream.
Result<std::pair<UniqueFd, UniqueFd>> socket_pair();

// Sends all bytes; the descriptors go with the first of them. Never raises SIGPIPE.
Status send_all(int socket, std::string_view bytes, std::span<const int> descriptors);

// As many bytes as there is room for now; 0 when there is none. Never waits, never raises SIGPIPE.
Result<std::size_t> send_now(int socket, std::string_view bytes);

// The same with descriptors, which go with the first byte.
Result<std::size_t> send_now(int socket, std::string_view bytes, std::span<const int> descriptors);

struct Received {
  std::size_t size = 0;  // 0: the other end is gone
  std::vector<UniqueFd> descriptors;
};

// What is there, at most `into.size()` bytes, with the descriptors that came along (close-on-exec). More descriptors
// than limits::kFrameDescriptorsMax in one message are an error.
Result<Received> receive_some(int socket, std::span<char> into);
// The same, but never waits: an error with sys_errno EAGAIN where nothing is there.
Result<Received> receive_now(int socket, std::span<char> into);

}  // namespace hutch::sys

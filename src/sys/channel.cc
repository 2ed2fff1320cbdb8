// A connected pair of Unix sockets.
#include "sys/channel.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>

#include "base/check.h"
#include "base/limits.h"
#include "sys/call.h"

namespace hutch::sys {

namespace {

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * limits::kFrameDescriptorsMax);

std::vector<UniqueFd> take_descriptors(msghdr& message) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      taken.emplace_back(fd);
    }
  }
  return taken;
}

// `control` is for as many as limits::kFrameDescriptorsMax and outlives the message.
void attach_descriptors(msghdr& message, std::span<char> control, std::span<const int> descriptors) {
  CHECK(descriptors.size() <= limits::kFrameDescriptorsMax);
  if (descriptors.empty()) return;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
}

Result<Received> receive(int socket, std::span<char> into, int flags) {
  alignas(cmsghdr) char control[kControlBytes] = {};
  iovec part{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t count = retry([&] { return ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags); });
  TRY(check(count, {"recvmsg()"}));
  Received received{static_cast<std::size_t>(count), take_descriptors(message)};
  if ((message.msg_flags & MSG_CTRUNC) != 0) return fail(Error::invalid("recvmsg(): too many descriptors"));
  return received;
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> socket_pair() {
  int ends[2] = {-1, -1};
  TRY(check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), {"socketpair(AF_UNIX)"}));
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status send_all(int socket, std::string_view bytes, std::span<const int> descriptors) {
  alignas(cmsghdr) char control[kControlBytes] = {};
  while (!bytes.empty()) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    attach_descriptors(message, control, descriptors);
    const ssize_t count = retry([&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL); });
    TRY(check(count, {"sendmsg(", std::to_string(bytes.size()), " bytes)"}));
    bytes.remove_prefix(static_cast<std::size_t>(count));
    descriptors = {};
  }
  return {};
}

Result<std::size_t> send_now(int socket, std::string_view bytes) {
  const ssize_t count = retry([&] { return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT); });
  if (count < 0 && errno == EAGAIN) return std::size_t{0};
  TRY(check(count, {"send(", std::to_string(bytes.size()), " bytes)"}));
  return static_cast<std::size_t>(count);
}

Result<std::size_t> send_now(int socket, std::string_view bytes, std::span<const int> descriptors) {
  alignas(cmsghdr) char control[kControlBytes] = {};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  attach_descriptors(message, control, descriptors);
  const ssize_t count = retry([&] { return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
  if (count < 0 && errno == EAGAIN) return std::size_t{0};
  TRY(check(count, {"sendmsg(", std::to_string(bytes.size()), " bytes)"}));
  return static_cast<std::size_t>(count);
}

Result<Received> receive_some(int socket, std::span<char> into) { return receive(socket, into, 0); }

Result<Received> receive_now(int socket, std::span<char> into) { return receive(socket, into, MSG_DONTWAIT); }

}  // namespace hutch::sys

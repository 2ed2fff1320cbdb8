// Waiting for many descriptors, and moving bytes between them in the kernel.
#include "sys/process/readiness.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sys/call.h"

namespace hutch::sys {

namespace {

constexpr std::size_t kEventsMax = 128;

std::uint32_t mask_of(Epoll::Interest interest) {
  std::uint32_t mask = 0;
  if (interest.read) mask |= EPOLLIN | EPOLLRDHUP;
  if (interest.write) mask |= EPOLLOUT;
  return mask;
}

}  // namespace

Result<Epoll> Epoll::make() { return Epoll(TRY(check_fd(::epoll_create1(EPOLL_CLOEXEC), {"epoll_create1()"}))); }

Status Epoll::add(int fd, Interest interest, std::uint64_t key) const {
  epoll_event event{mask_of(interest), {.u64 = key}};
  return check(::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event), {"epoll_ctl(ADD)"});
}

Status Epoll::change(int fd, Interest interest, std::uint64_t key) const {
  epoll_event event{mask_of(interest), {.u64 = key}};
  return check(::epoll_ctl(fd_.get(), EPOLL_CTL_MOD, fd, &event), {"epoll_ctl(MOD)"});
}

void Epoll::remove(int fd) const { (void)::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr); }

Result<std::size_t> Epoll::wait(std::span<Readiness> into, std::optional<std::chrono::milliseconds> timeout) const {
  std::array<epoll_event, kEventsMax> events;
  const auto count_max = static_cast<int>(std::min(into.size(), events.size()));
  const int wait_ms = timeout ? static_cast<int>(timeout->count()) : -1;
  const int count = ::epoll_wait(fd_.get(), events.data(), count_max, wait_ms);
  if (count < 0 && errno == EINTR) return 0;
  TRY(check(count, {"epoll_wait()"}));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    into[static_cast<std::size_t>(i)] = {.key = event.data.u64,
                                         .readable = (event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
                                         .writable = (event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0,
                                         .ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0,
                                         .broken = (event.events & (EPOLLHUP | EPOLLERR)) != 0};
  }
  return static_cast<std::size_t>(count);
}

Result<std::optional<std::size_t>> splice(int from, int to, std::size_t bytes_max) {
  const ssize_t count =
      retry([&] { return ::splice(from, nullptr, to, nullptr, bytes_max, SPLICE_F_NONBLOCK | SPLICE_F_MOVE); });
  if (count < 0 && errno == EAGAIN) return std::optional<std::size_t>();
  TRY(check(count, {"splice()"}));
  return std::optional(static_cast<std::size_t>(count));
}

std::size_t resize_pipe(int pipe, std::size_t bytes) {
  const int got = ::fcntl(pipe, F_SETPIPE_SZ, static_cast<int>(bytes));
  const int size = got > 0 ? got : ::fcntl(pipe, F_GETPIPE_SZ);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t usual_descriptor_limit() {
  static const std::size_t usual = [] {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) < 0 ? std::size_t{0} : static_cast<std::size_t>(limit.rlim_cur);
  }();
  return usual;
}

std::size_t raise_descriptor_limit() {
  (void)usual_descriptor_limit();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0) return 0;
  const rlim_t now = std::exchange(limit.rlim_cur, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) < 0 ? now : limit.rlim_max;
}

}  // namespace hutch::sys

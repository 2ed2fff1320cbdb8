// Asks for objects of git.
#include "wire/git_objects.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>

#include "base/text.h"
#include "sys/channel.h"
#include "sys/io.h"

namespace hutch::wire {

namespace {

constexpr std::size_t kObjectHeadBytes = 5;
constexpr std::size_t kObjectBytesMax = 8 << 20;
// Besides the kinds of objects.
constexpr unsigned kNoObject = 0;
constexpr unsigned kUnreadableObject = 5;

unsigned kind_of(const plan::GitObjectAnswer& answer) {
  using enum plan::GitObjectAnswer::Found;
  if (answer.found == kNo) return kNoObject;
  return answer.found == kYes ? static_cast<unsigned>(answer.object.kind) : kUnreadableObject;
}

}  // namespace

Status send_git_object(int stream, const plan::GitObjectAnswer& answer) {
  const std::string_view bytes = answer.object.bytes;
  std::string head(1, static_cast<char>(kind_of(answer)));
  for (int shift = 24; shift >= 0; shift -= 8) head.push_back(static_cast<char>(bytes.size() >> shift & 0xff));
  TRY(sys::write_all(stream, head));
  return sys::write_all(stream, bytes);
}

GitObjectStream::GitObjectStream(UniqueFd stream) : stream_(std::move(stream)) {
  if (!sys::set_nonblocking(stream_.get())) stream_.reset();
}

plan::GitObjectAnswer GitObjectStream::look_up(std::string_view name, Copies copies,
                                               std::chrono::steady_clock::time_point until) {
  const plan::GitObjectAnswer unreadable{plan::GitObjectAnswer::Found::kUnreadable, {}};
  if (!stream_) return unreadable;
  auto answered = ask(name, copies, until);
  if (!answered) stream_.reset();
  return answered ? std::move(*answered) : unreadable;
}

Result<plan::GitObjectAnswer> GitObjectStream::ask(std::string_view name, Copies copies,
                                                   std::chrono::steady_clock::time_point until) const {
  const auto size = static_cast<unsigned>(name.size()) | (copies == Copies::kAllAlike ? kAllCopiesBit : 0);
  TRY(sys::send_all(stream_.get(), cat({std::string(1, static_cast<char>(size)), name}), {}));
  std::string bytes;
  std::size_t wanted = kObjectHeadBytes;
  std::array<char, 64 << 10> part{};
  while (bytes.size() < wanted) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(Error::from_errno("read an object", ETIMEDOUT));
    pollfd ready{stream_.get(), POLLIN, 0};
    TRY(sys::poll({&ready, 1}, left));
    if (ready.revents == 0) continue;
    const auto count =
        sys::read_some(stream_.get(), std::span(part).first(std::min(part.size(), wanted - bytes.size())));
    if (!count && count.error().sys_errno == EAGAIN) continue;
    if (!count) return fail(count.error());
    if (*count == 0) return fail(Error::from_errno("read an object", EPIPE));
    bytes.append(part.data(), *count);
    if (bytes.size() != kObjectHeadBytes || wanted != kObjectHeadBytes) continue;
    for (std::size_t i = 1; i < kObjectHeadBytes; ++i) {
      wanted = (i == 1 ? 0 : wanted << 8) | static_cast<unsigned char>(bytes[i]);
    }
    if (wanted > kObjectBytesMax) return fail(Error::from_errno("read an object", EPROTO));
    wanted += kObjectHeadBytes;
  }
  using enum plan::GitObjectAnswer::Found;
  const auto kind = static_cast<unsigned char>(bytes.front());
  if (kind == kNoObject) return plan::GitObjectAnswer{};
  if (kind >= kUnreadableObject) return plan::GitObjectAnswer{kUnreadable, {}};
  return plan::GitObjectAnswer{kYes, {static_cast<plan::GitObjectKind>(kind), bytes.substr(kObjectHeadBytes)}};
}

}  // namespace hutch::wire

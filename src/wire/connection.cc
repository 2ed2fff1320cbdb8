// One end of the stream between host and guest.
#include "wire/connection.h"

#include <array>

#include "base/limits.h"
#include "sys/channel.h"

namespace hutch::wire {

Result<std::optional<Frame>> Connection::receive() {
  for (;;) {
    auto frame = TRY(take_buffered());
    if (frame) return frame;
    if (!TRY(read_more())) return std::optional<Frame>();
  }
}

Result<Connection::Polled> Connection::receive_ready() {
  Polled polled;
  polled.closed = !TRY(read_more());
  polled.frame = TRY(take_buffered());
  return polled;
}

Result<std::optional<Frame>> Connection::take_buffered() {
  if (buffer_.size() < kFrameHeaderBytes) return std::optional<Frame>();
  Frame frame;
  frame.header = TRY(decode_header(std::string_view(buffer_).substr(0, kFrameHeaderBytes)));
  const std::size_t whole = kFrameHeaderBytes + frame.header.size;
  if (buffer_.size() < whole) return std::optional<Frame>();
  frame.body = buffer_.substr(kFrameHeaderBytes, frame.header.size);
  buffer_.erase(0, whole);
  return std::optional<Frame>(std::move(frame));
}

UniqueFd Connection::take_descriptor() {
  if (descriptors_.empty()) return {};
  UniqueFd first = std::move(descriptors_.front());
  descriptors_.erase(descriptors_.begin());
  return first;
}

Status Connection::send_bytes(const std::string& bytes, std::span<const int> descriptors) {
  return sys::send_all(socket_.get(), bytes, descriptors);
}

Result<bool> Connection::read_more() {
  // Each page of a buffer on the stack is touched, used or not, and stays: most messages are below this.
  std::array<char, 8192> chunk;
  sys::Received received = TRY(sys::receive_some(socket_.get(), chunk));
  buffer_.append(chunk.data(), received.size);
  for (UniqueFd& fd : received.descriptors) descriptors_.push_back(std::move(fd));
  if (descriptors_.size() > limits::kFrameDescriptorsMax) return fail(Error::invalid("too many descriptors"));
  return received.size > 0;
}

}  // namespace hutch::wire

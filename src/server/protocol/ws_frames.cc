// WebSocket frames.
#include "server/protocol/ws_frames.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace hutch::server::ws {

namespace {

constexpr std::uint8_t kContinuation = 0;
constexpr std::uint8_t kLast = 0x80;
constexpr std::uint8_t kReserved = 0x70;
constexpr std::uint8_t kMasked = 0x80;
constexpr std::uint8_t kControl = 0x08;
constexpr std::size_t kMaskBytes = 4;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8 | byte_at(bytes, at + i);
  return number;
}

std::unexpected<Violation> broken(std::string_view rule, int code = kProtocolError) {
  return std::unexpected(Violation{code, std::string(rule)});
}

bool is_known(std::uint8_t opcode) {
  return opcode == kContinuation || opcode == static_cast<std::uint8_t>(Kind::kText) ||
         opcode == static_cast<std::uint8_t>(Kind::kBinary) ||
         (opcode >= static_cast<std::uint8_t>(Kind::kClose) && opcode <= static_cast<std::uint8_t>(Kind::kPong));
}

// Those that a peer may send: 7.4.1 and 7.4.2.
bool may_be_sent(std::uint64_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

}  // namespace

std::expected<std::optional<Message>, Violation> Reader::next() {
  for (;;) {
    const auto found = head();
    if (!found) return std::unexpected(found.error());
    if (!*found) return std::optional<Message>();
    const Head& now = **found;
    if (auto violation = check(now)) return std::unexpected(std::move(*violation));
    if (buffer_.size() - now.bytes < now.payload) return std::optional<Message>();
    std::string payload = take_payload(now);
    if ((now.opcode & kControl) != 0) return finish(static_cast<Kind>(now.opcode), std::move(payload));
    if (now.opcode != kContinuation) {
      kind_ = static_cast<Kind>(now.opcode);
      fragments_ = 0;
      message_.clear();
    }
    message_ += payload;
    if (++fragments_ > kFragmentsMax) return broken("a message of too many fragments", kTooBig);
    if (!now.last) continue;
    const Kind kind = *kind_;
    kind_.reset();
    return finish(kind, std::exchange(message_, {}));
  }
}

// Nothing where it is not there whole.
std::expected<std::optional<Reader::Head>, Violation> Reader::head() const {
  constexpr std::size_t kShort = 2;
  if (buffer_.size() < kShort) return std::optional<Head>();
  const std::uint8_t first = byte_at(buffer_, 0);
  const std::uint8_t second = byte_at(buffer_, 1);
  if ((first & kReserved) != 0) return broken("a reserved bit is set, and no extension was agreed on");
  if ((second & kMasked) == 0) return broken("a client's frame has to be masked");
  Head head{.last = (first & kLast) != 0, .opcode = static_cast<std::uint8_t>(first & 0x0f)};
  const std::uint64_t length = second & 0x7fU;
  const std::size_t extended = length == 126 ? 2 : length == 127 ? 8 : 0;
  head.bytes = kShort + extended + kMaskBytes;
  if (buffer_.size() < head.bytes) return std::optional<Head>();
  head.payload = extended == 0 ? length : number_at(buffer_, kShort, extended);
  const bool needless = (extended == 2 && head.payload < 126) || (extended == 8 && head.payload < 65'536);
  if (needless) return broken("a length has to be written in as few bytes as hold it");
  return std::optional(head);
}

std::optional<Violation> Reader::check(const Head& head) const {
  if (!is_known(head.opcode)) return Violation{kProtocolError, "an unknown kind of frame"};
  if ((head.opcode & kControl) != 0) {
    if (!head.last) return Violation{kProtocolError, "a control frame has no fragments"};
    if (head.payload > kControlBytesMax) return Violation{kProtocolError, "a control frame has at most 125 bytes"};
    return std::nullopt;
  }
  if (head.opcode == kContinuation && !kind_) return Violation{kProtocolError, "a fragment of no message"};
  if (head.opcode != kContinuation && kind_) return Violation{kProtocolError, "a message within another"};
  const std::size_t before = head.opcode == kContinuation ? message_.size() : 0;
  if (head.payload > kMessageBytesMax - before) {
    return Violation{kTooBig, cat({"a message has at most ", std::to_string(kMessageBytesMax), " bytes"})};
  }
  return std::nullopt;
}

std::string Reader::take_payload(const Head& head) {
  const auto size = static_cast<std::size_t>(head.payload);
  std::string payload = buffer_.substr(head.bytes, size);
  const std::size_t mask = head.bytes - kMaskBytes;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<char>(byte_at(payload, i) ^ byte_at(buffer_, mask + i % kMaskBytes));
  }
  buffer_.erase(0, head.bytes + size);
  return payload;
}

std::expected<std::optional<Message>, Violation> Reader::finish(Kind kind, std::string bytes) {
  Message message{.kind = kind, .bytes = std::move(bytes)};
  if (kind == Kind::kText && !is_utf8(message.bytes)) return broken("a text is not UTF-8", kNotText);
  if (kind != Kind::kClose || message.bytes.empty()) return std::optional(std::move(message));
  if (message.bytes.size() < 2) return broken("half a code of a close");
  const std::uint64_t code = number_at(message.bytes, 0, 2);
  if (!may_be_sent(code)) return broken("a close has a code that is not to be sent");
  message.code = static_cast<int>(code);
  message.bytes.erase(0, 2);
  if (!is_utf8(message.bytes)) return broken("a close's reason is not UTF-8", kNotText);
  return std::optional(std::move(message));
}

std::string frame(Kind kind, std::string_view bytes) {
  std::string text;
  text += static_cast<char>(kLast | static_cast<std::uint8_t>(kind));
  const std::uint64_t size = bytes.size();
  const std::size_t extended = size < 126 ? 0 : size < 65'536 ? 2 : 8;
  text += static_cast<char>(extended == 0 ? size : extended == 2 ? 126 : 127);
  for (std::size_t i = extended; i-- > 0;) text += static_cast<char>(size >> (8 * i) & 0xff);
  text += bytes;
  return text;
}

std::string close_frame(int code, std::string_view reason) {
  std::string bytes;
  bytes += static_cast<char>(code >> 8 & 0xff);
  bytes += static_cast<char>(code & 0xff);
  reason = reason.substr(0, kControlBytesMax - 2);
  // Not within a character.
  while (!reason.empty() && !is_utf8(reason)) reason.remove_suffix(1);
  return frame(Kind::kClose, bytes.append(reason));
}

}  // namespace hutch::server::ws

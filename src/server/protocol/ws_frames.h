// WebSocket messages from bytes and back, on the server's side (RFC 6455). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace hutch::server::ws {

inline constexpr std::size_t kMessageBytesMax = 1 << 20;
inline constexpr std::size_t kControlBytesMax = 125;  // 5.5
inline constexpr std::size_t kFragmentsMax = 4096;    // of one message; empty ones count

// Codes of a close, 7.4.1.
inline constexpr int kNormal = 1000;
inline constexpr int kGoingAway = 1001;
inline constexpr int kProtocolError = 1002;
inline constexpr int kNoCode = 1005;  // that there was none; never sent
inline constexpr int kNotText = 1007;
inline constexpr int kNotAllowed = 1008;
inline constexpr int kTooBig = 1009;
inline constexpr int kFailed = 1011;

enum class Kind : std::uint8_t { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

struct Message {
  Kind kind = Kind::kText;
  std::string bytes;     // of a close: its reason
  int code = kNoCode;    // of a close
  bool operator==(const Message&) const = default;
};

// A client that breaks a rule is told which, and is done with.
struct Violation {
  int code = kProtocolError;
  std::string message;
};

class Reader {
 public:
  void add(std::string_view bytes) { buffer_ += bytes; }
  // The next whole message; nothing where more bytes are needed. After a violation it is not asked again.
  std::expected<std::optional<Message>, Violation> next();

 private:
  struct Head {
    bool last = false;  // of its message
    std::uint8_t opcode = 0;
    std::size_t bytes = 0;  // with the mask
    std::uint64_t payload = 0;
  };
  std::expected<std::optional<Head>, Violation> head() const;
  std::optional<Violation> check(const Head& head) const;
  std::string take_payload(const Head& head);
  std::expected<std::optional<Message>, Violation> finish(Kind kind, std::string bytes);

  std::string buffer_;
  std::optional<Kind> kind_;  // of the message whose fragments are being put together
  std::string message_;
  std::size_t fragments_ = 0;
};

// One frame as a server sends it: whole, and not masked.
std::string frame(Kind kind, std::string_view bytes);
// The reason is cut where it is too long.
std::string close_frame(int code, std::string_view reason);

}  // namespace hutch::server::ws

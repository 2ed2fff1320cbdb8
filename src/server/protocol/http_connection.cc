// One HTTP/1 connection.
#include "server/protocol/http_connection.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "sys/io.h"
#include "sys/net/sockets.h"

namespace hutch::server::http {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 64 << 10;
constexpr milliseconds kLinger{2000};
constexpr std::size_t kLingerBytesMax = 16 << 20;

template <class Point>
milliseconds left_until(Point deadline) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(deadline - Point::clock::now()));
}

std::string head_text(const Answer& answer) {
  std::string text = cat({"HTTP/1.1 ", std::to_string(answer.status), " ", reason_phrase(answer.status), "\r\n"});
  if (!answer.type.empty()) text += cat({"Content-Type: ", answer.type, "\r\n"});
  text += "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";
  for (const Field& field : answer.fields) text += cat({field.name, ": ", field.value, "\r\n"});
  return text;
}

}  // namespace

std::string chunk_size(std::size_t number) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[number % 16]);
    number /= 16;
  } while (number != 0);
  return digits;
}

std::expected<std::optional<Request>, Refusal> Connection::read_head() {
  static constexpr auto kSlow = [] { return Refusal{408, "timeout", "the request's head took too long"}; };
  reader_ = RequestReader();
  auto deadline = Clock::now() + (buffer_.empty() ? patience_.idle : patience_.head);
  for (;;) {
    // An empty line before a request is passed over (RFC 9112 2.2).
    while (buffer_.starts_with("\r\n")) buffer_.erase(0, 2);
    if (!buffer_.empty()) {
      const auto taken = reader_.take(buffer_);
      if (!taken) return std::unexpected(taken.error());
      buffer_.erase(0, *taken);
      if (reader_.head_done()) {
        bodiless_ = reader_.request().method == "HEAD";
        head_said_ = false;
        continued_ = false;
        return std::optional(reader_.request());
      }
    }
    const bool begun = !buffer_.empty();
    const auto more = read_more(deadline);
    if (!more && more.error().code == Code::kTimeout && begun) return std::unexpected(kSlow());
    if (!more || !*more) return std::optional<Request>();
    if (!begun) deadline = Clock::now() + patience_.head;
  }
}

Result<std::optional<Refusal>> Connection::read_body(Request& request) {
  const auto deadline = Clock::now() + patience_.body;
  const Refusal too_large{413, "body_too_large",
                          cat({"the body has more than ", std::to_string(kBodyBytesMax), " bytes"})};
  if (request.length.value_or(0) > kBodyBytesMax) return std::optional(too_large);
  for (;;) {
    auto piece = TRY(read_piece(request, deadline));
    if (auto* refusal = std::get_if<Refusal>(&piece)) return std::optional(std::move(*refusal));
    const auto& bytes = std::get<std::string>(piece);
    if (bytes.empty()) return std::optional<Refusal>();
    request.body += bytes;
    if (request.body.size() > kBodyBytesMax) return std::optional(too_large);
  }
}

Result<std::variant<std::string, Refusal>> Connection::read_body_piece(const Request& request) {
  return read_piece(request, Clock::time_point::max());
}

Result<std::variant<std::string, Refusal>> Connection::read_piece(const Request& request, Clock::time_point deadline) {
  if (request.expects_continue && request.has_body && buffer_.empty() && !continued_) {
    TRY(write("HTTP/1.1 100 Continue\r\n\r\n"));
  }
  continued_ = true;
  std::string& taken_bytes = reader_.request().body;
  while (!reader_.done() && taken_bytes.empty()) {
    if (!buffer_.empty()) {
      const auto taken = reader_.take(buffer_);
      if (!taken) return std::variant<std::string, Refusal>(taken.error());
      buffer_.erase(0, *taken);
      if (*taken > 0) continue;
    }
    const auto more = read_more(std::min(deadline, Clock::now() + patience_.stall));
    if (!more && more.error().code == Code::kTimeout) {
      return std::variant<std::string, Refusal>(Refusal{408, "timeout", "the request's body took too long"});
    }
    if (!TRY(more)) return fail(Error::invalid("the client went in the middle of a request"));
  }
  return std::variant<std::string, Refusal>(std::exchange(taken_bytes, {}));
}

Status Connection::send(const Answer& answer, Then then) {
  std::string text = head_text(answer);
  // Of 204 there is neither (RFC 9110 8.6).
  if (answer.status != 204) text += cat({"Content-Length: ", std::to_string(answer.body.size()), "\r\n"});
  if (then == Then::kClose) text += "Connection: close\r\n";
  text += "\r\n";
  if (answer.status != 204 && !bodiless_) text += answer.body;
  return write(text);
}

Status Connection::begin_stream(const Answer& head, int minor_version) {
  if (bodiless_) {
    head_said_ = true;
    TRY(write(head_text(head) + "\r\n"));
    return fail(Error{Code::kConflict, 0, "HEAD has no body"});
  }
  chunked_ = minor_version > 0;
  streaming_ = true;
  TRY(write(head_text(head) + (chunked_ ? "Transfer-Encoding: chunked\r\n\r\n" : "Connection: close\r\n\r\n")));
  return head.body.empty() ? Status() : send_piece(head.body);
}

Status Connection::send_piece(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (!chunked_) return write(bytes);
  return write(cat({chunk_size(bytes.size()), "\r\n", bytes, "\r\n"}));
}

Status Connection::end_stream() {
  streaming_ = false;
  if (chunked_) TRY(write("0\r\n\r\n"));
  return release();
}

Status Connection::release() {
  holds_ = false;
  return write_now(std::exchange(held_, {}));
}

Status Connection::switch_protocol(const std::vector<Field>& fields) {
  std::string text = cat({"HTTP/1.1 101 ", reason_phrase(101), "\r\n"});
  for (const Field& field : fields) text += cat({field.name, ": ", field.value, "\r\n"});
  return write(text + "\r\n");
}

short Connection::gone_events() const { return kind_ == Kind::kTcp ? POLLRDHUP : short{0}; }

bool Connection::is_gone() const {
  pollfd socket{fd(), gone_events(), 0};
  const auto ready = sys::poll({&socket, 1}, milliseconds(0));
  return !ready || (*ready > 0 && socket.revents != 0);
}

void Connection::linger() {
  if (!sys::shut_down_writing(fd())) return;
  const auto deadline = Clock::now() + kLinger;
  std::size_t taken = 0;
  while (taken < kLingerBytesMax) {
    buffer_.clear();
    const auto more = read_more(deadline);
    if (!more || !*more) return;
    taken += buffer_.size();
  }
}

Result<bool> Connection::read_more(Clock::time_point deadline) {
  std::array<char, kReadBytes> bytes;
  for (;;) {
    pollfd socket{fd(), POLLIN, 0};
    if (TRY(sys::poll({&socket, 1}, left_until(deadline))) == 0) {
      if (Clock::now() < deadline) continue;
      return fail(Error{Code::kTimeout, 0, "the client says nothing"});
    }
    const auto count = sys::read_some(fd(), bytes);
    if (!count && count.error().sys_errno == EAGAIN) continue;
    if (TRY(count) == 0) return false;
    buffer_.append(bytes.data(), *count);
    return true;
  }
}

Status Connection::write(std::string_view bytes) {
  if (!holds_) return write_now(bytes);
  held_ += bytes;
  return {};
}

Status Connection::write_now(std::string_view bytes) {
  auto deadline = Clock::now() + patience_.stall;
  while (!bytes.empty()) {
    const auto count = sys::write_some(fd(), bytes);
    if (count) {
      bytes.remove_prefix(*count);
      deadline = Clock::now() + patience_.stall;
      continue;
    }
    if (count.error().sys_errno != EAGAIN) return fail(count.error());
    pollfd socket{fd(), POLLOUT, 0};
    TRY(sys::poll({&socket, 1}, left_until(deadline)));
    if (Clock::now() >= deadline) return fail(Error{Code::kTimeout, 0, "the client does not read"});
  }
  return {};
}

}  // namespace hutch::server::http

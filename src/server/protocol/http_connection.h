// One HTTP/1 connection: requests in, answers and streams out, each with a time limit.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/protocol/http_message.h"
#include "server/protocol/http_reader.h"

namespace hutch::server::http {

struct Patience {
  std::chrono::milliseconds idle{75'000};   // between two requests
  std::chrono::milliseconds head{15'000};   // from a head's first byte to its last
  std::chrono::milliseconds body{120'000};  // for the whole of a body
  std::chrono::milliseconds stall{30'000};  // without a byte of the body, or of the answer being taken
};

std::string chunk_size(std::size_t bytes);  // as a chunk's first line says it

class Connection {
 public:
  // By which socket: see gone_events.
  enum class Kind { kUnix, kTcp };
  Connection(UniqueFd socket, Kind kind, Patience patience = {})
      : socket_(std::move(socket)), kind_(kind), patience_(patience) {}

  int fd() const { return socket_.get(); }

  // The next request's head. Absent when the client has gone, or says nothing.
  std::expected<std::optional<Request>, Refusal> read_head();
  // The rest of that request. An error when the client has gone.
  Result<std::optional<Refusal>> read_body(Request& request);
  // Or piece by piece, each as it comes; "" at its end. Who reads so takes any length, for as long as something comes.
  Result<std::variant<std::string, Refusal>> read_body_piece(const Request& request);
  bool is_body_read() const { return reader_.done(); }

  // --- an answer, whole; of HEAD its head alone (RFC 9110 9.3.2) ---

  enum class Then { kKeep, kClose };
  Status send(const Answer& answer, Then then);

  // --- or as a stream, of which nobody knows how long it will be; of HEAD an error, once the head is said ---

  Status begin_stream(const Answer& head, int minor_version);
  Status send_piece(std::string_view bytes);
  Status end_stream();
  // What is said of a stream from here on goes in one piece with what ends it, or with release(): who reads is woken
  // once. For little.
  void hold() { holds_ = true; }
  Status release();

  // --- or as another protocol, for which the connection is from then on ---

  Status switch_protocol(const std::vector<Field>& fields);
  // What came behind the request already.
  bool has_rest() const { return !buffer_.empty(); }
  std::string take_rest() { return std::exchange(buffer_, {}); }
  bool is_streaming() const { return streaming_; }
  bool has_said_head() const { return head_said_; }

  // Whether the client has gone, as far as can be told without taking what it may still send.
  bool is_gone() const;
  // What a poll for that asks. Of TCP the end of its sending is all that can be seen of a client that has closed its
  // socket (POLLRDHUP); of a Unix socket the kernel tells the two apart (POLLHUP, which need not be asked for).
  short gone_events() const;

  // Answers nothing more; takes what is on its way for a moment, so that a last answer is not lost with it
  // (RFC 9112 9.6).
  void linger();

 private:
  using Clock = std::chrono::steady_clock;
  Result<std::variant<std::string, Refusal>> read_piece(const Request& request, Clock::time_point deadline);
  // False at the end of the stream; an error after the deadline.
  Result<bool> read_more(Clock::time_point deadline);
  Status write(std::string_view bytes);
  Status write_now(std::string_view bytes);

  UniqueFd socket_;
  const Kind kind_;
  const Patience patience_;
  RequestReader reader_;
  std::string buffer_;
  bool continued_ = false;  // the client that waits for it was told to send its body
  bool bodiless_ = false;  // the request is HEAD
  bool head_said_ = false;  // of a stream that is none
  bool streaming_ = false;
  bool chunked_ = false;
  bool holds_ = false;
  std::string held_;  // said, and not written yet
};

}  // namespace hutch::server::http

// One HTTP/1 connection: requests in, answers and streams out, each with a time limit.
#pragma once

#include <chrono>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "server/http_message.h"
#include "server/http_reader.h"

namespace hutch::server::http {

struct Patience {
  std::chrono::milliseconds idle{75'000};   // between two requests
  std::chrono::milliseconds head{15'000};   // from a head's first byte to its last
  std::chrono::milliseconds body{120'000};  // for the whole of a body
  std::chrono::milliseconds stall{30'000};  // without a byte of the body, or of the answer being taken
};

class Connection {
 public:
  explicit Connection(UniqueFd socket, Patience patience = {}) : socket_(std::move(socket)), patience_(patience) {}

  int fd() const { return socket_.get(); }

  // The next request's head. Absent when the client has gone, or says nothing.
  std::expected<std::optional<Request>, Refusal> read_head();
  // The rest of that request. An error when the client has gone.
  Result<std::optional<Refusal>> read_body(Request& request);

  // --- an answer, whole ---

  enum class Then { kKeep, kClose };
  Status send(const Answer& answer, Then then);

  // --- or as a stream, of which nobody knows how long it will be ---

  Status begin_stream(const Answer& head, int minor_version);
  Status send_piece(std::string_view bytes);
  Status end_stream();
  bool is_streaming() const { return streaming_; }

  // Whether the client has ended its side, as far as can be told without taking what it may still send.
  bool is_gone() const;
  // What a poll for that asks: POLLRDHUP comes as soon as the other side has shut down its writing.
  static short gone_events();

  // Answers nothing more; takes what is on its way for a moment, so that a last answer is not lost with it
  // (RFC 9112 9.6).
  void linger();

 private:
  using Clock = std::chrono::steady_clock;
  // False at the end of the stream; an error after the deadline.
  Result<bool> read_more(Clock::time_point deadline);
  Status write(std::string_view bytes);

  UniqueFd socket_;
  const Patience patience_;
  RequestReader reader_;
  std::string buffer_;
  bool streaming_ = false;
  bool chunked_ = false;
};

}  // namespace hutch::server::http

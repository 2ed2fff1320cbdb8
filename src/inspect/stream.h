// One end of a connection, plain or inside TLS. Reads and writes never block; `wait` does.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_st;

namespace hutch::inspect {

struct SslDeleter {
  void operator()(ssl_st* ssl) const;
};
using Ssl = std::unique_ptr<ssl_st, SslDeleter>;

enum class Io {
  kSome,    // bytes were moved
  kWait,    // not now
  kEnd,     // the other side has said that nothing more comes
  kFailed,  // reset, or broken TLS; of a TLS stream also an end that the other side has not announced
};
struct IoResult {
  Io io = Io::kFailed;
  std::size_t size = 0;
};

class Stream {
 public:
  // Borrows the socket, which must not block.
  explicit Stream(int fd) : fd_(fd) {}

  void use_tls(Ssl ssl) { ssl_ = std::move(ssl); }
  ssl_st* ssl() const { return ssl_.get(); }
  int fd() const { return fd_; }

  IoResult read(std::span<char> into);
  IoResult write(std::string_view bytes);
  // Tells the other side that nothing more will come.
  void finish();

  // What to poll for before the next try.
  short read_events() const { return read_events_; }
  short write_events() const { return write_events_; }

  std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  IoResult read_plain(std::span<char> into);
  IoResult write_plain(std::string_view bytes);
  IoResult tls_answer(int answer, short& events);

  int fd_;
  Ssl ssl_;
  short read_events_ = 1;   // POLLIN
  short write_events_ = 4;  // POLLOUT
  std::uint64_t bytes_written_ = 0;
};

using Deadline = std::chrono::steady_clock::time_point;
Deadline deadline_in(std::chrono::milliseconds time);

// A stream with what has been read of it and not used yet, and what is to be written.
struct Side {
  explicit Side(Stream& its_stream) : stream(its_stream) {}

  Stream& stream;
  std::string in;
  std::string out;
  bool ended = false;   // nothing more will come
  bool failed = false;  // nothing more will come or go

  bool has_room() const;       // for more to be written
  bool wants_reading() const;  // `in` has room, and more may come
  bool gone() const { return failed || (ended && in.empty()); }

  // One try each; whether something has changed.
  bool fill();
  bool flush();
};

enum class Waited { kReady, kTimeout };

// Until one of both can go on, or the deadline.
Waited wait(const Side& a, const Side& b, Deadline deadline);

// Until the socket has one of the events.
Waited wait(int fd, short events, Deadline deadline);

// Writes what is left, says that nothing more comes, and reads and forgets what still does: for a moment, so that the
// answer arrives (RFC 9112, 9.6).
void close_gently(Side& side);

}  // namespace hutch::inspect

// One end of a connection, plain or inside TLS.
#include "inspect/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "inspect/limits.h"
#include "sys/io.h"
#include "sys/process/shutdown.h"

namespace hutch::inspect {

void SslDeleter::operator()(ssl_st* ssl) const { SSL_free(ssl); }

IoResult Stream::read(std::span<char> into) {
  if (!ssl_) return read_plain(into);
  ERR_clear_error();
  const int answer = SSL_read(ssl_.get(), into.data(), static_cast<int>(into.size()));
  if (answer <= 0) return tls_answer(answer, read_events_);
  read_events_ = POLLIN;
  return {Io::kSome, static_cast<std::size_t>(answer)};
}

IoResult Stream::write(std::string_view bytes) {
  if (!ssl_) return write_plain(bytes);
  ERR_clear_error();
  const std::size_t size = std::min(bytes.size(), limits::kBufferBytes);
  const int answer = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(size));
  if (answer <= 0) return tls_answer(answer, write_events_);
  write_events_ = POLLOUT;
  bytes_written_ += static_cast<std::uint64_t>(answer);
  return {Io::kSome, static_cast<std::size_t>(answer)};
}

void Stream::finish() {
  if (ssl_) {
    ERR_clear_error();
    (void)SSL_shutdown(ssl_.get());
  }
  (void)sys::shut_down(fd_, sys::Direction::kWriting);
}

IoResult Stream::read_plain(std::span<char> into) {
  const Result<std::size_t> size = sys::read_some(fd_, into);
  if (!size) return {size.error().sys_errno == EAGAIN ? Io::kWait : Io::kFailed};
  if (*size == 0) return {Io::kEnd};
  return {Io::kSome, *size};
}

IoResult Stream::write_plain(std::string_view bytes) {
  const Result<std::size_t> size = sys::write_some(fd_, bytes);
  if (!size) return {size.error().sys_errno == EAGAIN ? Io::kWait : Io::kFailed};
  bytes_written_ += *size;
  return {Io::kSome, *size};
}

// TLS may have to write in order to read (a key update), and the other way round.
IoResult Stream::tls_answer(int answer, short& events) {
  switch (SSL_get_error(ssl_.get(), answer)) {
    case SSL_ERROR_WANT_READ: events = POLLIN; return {Io::kWait};
    case SSL_ERROR_WANT_WRITE: events = POLLOUT; return {Io::kWait};
    case SSL_ERROR_ZERO_RETURN: return {Io::kEnd};
    default: return {Io::kFailed};
  }
}

Deadline deadline_in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

bool Side::has_room() const { return !failed && out.size() < limits::kBufferBytes; }

bool Side::wants_reading() const { return !failed && !ended && in.size() < limits::kBufferBytes; }

bool Side::fill() {
  if (!wants_reading()) return false;
  std::array<char, limits::kReadBytes> chunk;
  const IoResult result = stream.read(chunk);
  if (result.io == Io::kWait) return false;
  if (result.io == Io::kSome) in.append(chunk.data(), result.size);
  if (result.io == Io::kEnd) ended = true;
  // What has come before is still good; writing fails by itself if it does.
  if (result.io == Io::kFailed) ended = failed = true;
  return true;
}

bool Side::flush() {
  if (failed) out.clear();
  if (out.empty()) return false;
  const IoResult result = stream.write(out);
  if (result.io == Io::kWait) return false;
  if (result.io == Io::kSome) {
    out.erase(0, result.size);
  } else {
    failed = true;
    out.clear();
  }
  return true;
}

namespace {

// poll(2) reports errors of a socket whether they are asked for or not: one from which nothing is wanted is left out,
// else the loop around it would spin.
pollfd poll_entry(const Side& side) {
  short events = 0;
  if (side.wants_reading()) events = static_cast<short>(events | side.stream.read_events());
  if (!side.out.empty() && !side.failed) events = static_cast<short>(events | side.stream.write_events());
  return {events == 0 ? -1 : side.stream.fd(), events, 0};
}

Waited wait_for(std::span<pollfd> entries, Deadline deadline) {
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return Waited::kTimeout;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
    const Result<int> ready = sys::poll(entries, left);
    if (!ready) return Waited::kTimeout;
    if (*ready > 0) return Waited::kReady;
  }
}

}  // namespace

Waited wait(const Side& a, const Side& b, Deadline deadline) {
  std::array<pollfd, 2> entries = {poll_entry(a), poll_entry(b)};
  return wait_for(entries, deadline);
}

Waited wait(int fd, short events, Deadline deadline) {
  std::array<pollfd, 1> entries = {pollfd{fd, events, 0}};
  return wait_for(entries, deadline);
}

void close_gently(Side& side) {
  const Deadline deadline = deadline_in(limits::kHeadTime);
  while (!side.out.empty() && !side.failed) {
    if (side.flush()) continue;
    if (wait(side.stream.fd(), side.stream.write_events(), deadline) == Waited::kTimeout) return;
  }
  if (side.failed) return;
  side.stream.finish();
  const Deadline linger = deadline_in(limits::kLingerTime);
  std::size_t forgotten = 0;
  while (forgotten < limits::kLingerBytesMax) {
    forgotten += side.in.size();
    side.in.clear();
    if (side.fill()) continue;
    if (side.ended || side.failed) return;
    if (wait(side.stream.fd(), side.stream.read_events(), linger) == Waited::kTimeout) return;
  }
}

}  // namespace hutch::inspect

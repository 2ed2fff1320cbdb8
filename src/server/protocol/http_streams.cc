// The host's ends of a command's streams.
#include "server/protocol/http_streams.h"

#include <cerrno>

#include "sys/io.h"

namespace hutch::server::http {

Result<Streams> make_streams() {
  Streams streams;
  sys::Pipe input = TRY(sys::pipe());
  TRY(sys::set_nonblocking(input.write.get()));
  streams.given.descriptors.push_back(std::move(input.read));
  streams.ends.input = std::move(input.write);
  for (UniqueFd& end : streams.ends.output) {
    sys::Pipe pipe = TRY(sys::pipe());
    TRY(sys::set_nonblocking(pipe.read.get()));
    streams.given.descriptors.push_back(std::move(pipe.write));
    end = std::move(pipe.read);
  }
  return streams;
}

// A terminal that nobody has open any more answers with EIO (pty(7)).
std::string read_piece(UniqueFd& from) {
  std::array<char, kPieceBytes> bytes;
  const auto count = sys::read_some(from.get(), bytes);
  if (!count && count.error().sys_errno == EAGAIN) return {};
  if (count && *count > 0) return {bytes.data(), *count};
  from.reset();
  return {};
}

void write_piece(const UniqueFd& to, std::string& bytes) {
  const auto count = sys::write_some(to.get(), bytes);
  if (!count && count.error().sys_errno == EAGAIN) return;
  bytes.erase(0, count ? *count : bytes.size());
}

}  // namespace hutch::server::http

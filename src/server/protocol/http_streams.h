// The host's ends of the streams of a command that an HTTP client runs: nothing of what passes there is kept.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "sandbox/io/process_request.h"

namespace hutch::server::http {

inline constexpr std::size_t kPieceBytes = 64 << 10;  // as much as a pipe holds (pipe(7))

// None of them blocks.
struct Ends {
  UniqueFd input;
  std::array<UniqueFd, 2> output;
};

struct Streams {
  Ends ends;
  sandbox::GivenStreams given;
};
Result<Streams> make_streams();

// What there is of a stream, at most a piece; the descriptor is closed at its end.
std::string read_piece(UniqueFd& from);

// Writes what can be written, and takes it off `bytes`; all of it where nobody reads any more.
void write_piece(const UniqueFd& to, std::string& bytes);

}  // namespace hutch::server::http

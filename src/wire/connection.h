// One end of the stream between host and guest: frames with descriptors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "wire/message.h"

namespace hutch::wire {

// A frame as it came, not yet decoded.
struct Frame {
  FrameHeader header;
  std::string body;
};

class Connection {
 public:
  explicit Connection(UniqueFd socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }

  template <class Message>
  Status send(const Message& message, std::span<const int> descriptors = {}) {
    return send_bytes(encode(message), descriptors);
  }

  // The next whole frame; waits for it. Absent when the other end is gone. A frame that breaks a rule is an error,
  // after which the connection is of no more use.
  Result<std::optional<Frame>> receive();

  // Reads what is there, once, and gives a frame if one is complete now: for use after poll(2).
  struct Polled {
    bool closed = false;
    std::optional<Frame> frame;
  };
  Result<Polled> receive_ready();

  // A frame that an earlier read brought along with another.
  Result<std::optional<Frame>> take_buffered();

  // The descriptors that have come and were not taken yet. Bytes of an earlier frame may come in the same read as the
  // descriptors of the next one (unix(7)), so whoever decodes a message that carries some asks for them then.
  std::vector<UniqueFd> take_descriptors() { return std::exchange(descriptors_, {}); }
  // The first of them, for a message that carries one; of no descriptor where none has come.
  UniqueFd take_descriptor();

 private:
  Status send_bytes(const std::string& bytes, std::span<const int> descriptors);
  Result<bool> read_more();  // false at the end

  UniqueFd socket_;
  std::string buffer_;
  std::vector<UniqueFd> descriptors_;
};

}  // namespace hutch::wire

// Reads one HTTP/1 message: Beast's parser, without any I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/head.h"

namespace hutch::inspect {

class MessageParser {
 public:
  explicit MessageParser(MessageKind kind);
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;

  // The whole head, as `measure_head` found it.
  Status read_head(std::string_view bytes);
  const Head& head() const;
  Framing framing() const;

  // Takes what it can of `bytes` and appends what the body holds to `body`; gives how much it took. Less than all with
  // nothing appended: more bytes are needed first.
  Result<std::size_t> read_body(std::string_view bytes, std::string& body);
  // The connection has ended: an error when the message had not.
  Status end();

  bool done() const;
  const Headers& trailers() const;

 private:
  class Reader;
  template <bool kIsRequest>
  class ReaderOf;
  std::unique_ptr<Reader> reader_;
};

}  // namespace hutch::inspect

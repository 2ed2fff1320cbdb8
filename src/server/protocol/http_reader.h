// Reads one HTTP/1 request: Beast's parser, without any I/O.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string_view>

#include "server/protocol/http_message.h"

namespace hutch::server::http {

class RequestReader {
 public:
  RequestReader();
  ~RequestReader();
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;

  // Takes what it can of `bytes` and gives how much that was. It stops where the head ends, and where the request does.
  // What was not taken is needed again, with more behind it. The body may be of any length: who takes it from the
  // request, piece by piece, sees to it.
  std::expected<std::size_t, Refusal> take(std::string_view bytes);

  bool head_done() const;
  bool done() const;
  Request& request();

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace hutch::server::http

// HTTP/1 as an engine is spoken to, without any I/O: requests written, and one answer read with a limit on everything.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::backend::container {

struct Answer {
  unsigned status = 0;
  std::string body;
  std::string path_stat{};  // X-Docker-Container-Path-Stat, of an answer about a path in a container
  std::string server{};     // Server, "Libpod/4.3.1 (linux)"
  std::string api{};        // Api-Version, the newest that the engine speaks
};

// A whole request, after whose answer the engine closes. `body` is JSON, or empty.
std::string request_text(std::string_view method, std::string_view target, std::string_view body);

// The head of one whose body of `type` follows in chunks, each behind its own head; one of 0 bytes is the end.
std::string chunked_request_head(std::string_view method, std::string_view target, std::string_view type);
std::string chunk_head(std::size_t bytes);
inline constexpr std::string_view kChunkEnd = "\r\n";

class AnswerReader {
 public:
  static constexpr std::uint32_t kHeadBytesMax = 64 * 1024;
  static constexpr std::size_t kBodyBytesMax = 4 << 20;

  // To "HEAD" no body comes, whatever the answer's head says (RFC 9110, 9.3.2).
  explicit AnswerReader(std::string_view method = "GET");
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // All of `bytes`, or an error after which nothing more is to be given.
  Status take(std::string_view bytes);
  // The other side closed: the end of a body that has no length, and an error anywhere else.
  Status end();
  bool done() const;
  Answer answer() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace hutch::backend::container

// The answer of an endpoint that speaks as OpenAI's does: server-sent events, of which each carries a piece of text.
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace hutch::service {

class ChatStream {
 public:
  // The text that these bytes carry. What is no event is passed over; an error that the endpoint tells is kept.
  std::string take(std::string_view bytes);
  bool is_done() const { return done_; }                   // the endpoint has said so
  const std::string& error() const { return error_; }      // its complaint, as it said it; empty: none
  bool is_too_long() const { return too_long_; }           // a line without end

 private:
  std::string take_line(std::string_view line);
  std::string held_;
  std::string error_;
  bool done_ = false;
  bool too_long_ = false;
};

}  // namespace hutch::service

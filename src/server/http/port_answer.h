// What a server in a sandbox answers, as it may go on to a client. Without any I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/protocol/http_message.h"

namespace hutch::server::http {

// One answer and no byte behind it: a client that took the connection for usable again would read what the sandbox
// says as the daemon's own words. Only after a 101 that the request asked for everything goes through.
class PortAnswer {
 public:
  explicit PortAnswer(const Request& request);
  ~PortAnswer();

  // What came of the server; what goes on is added to `out`. An error: this is no answer, and nothing more goes on.
  Status take(std::string_view bytes, std::string& out);
  Status end(std::string& out);  // nothing more comes

  bool has_begun() const { return has_begun_; }  // its head went on
  bool is_done() const { return is_done_; }
  bool is_raw() const { return is_raw_; }  // another protocol has begun

 private:
  class Parser;
  Status go_on(const Parser& parser, std::string& out);
  std::string head(const Parser& parser) const;
  void give_body(Parser& parser, std::string& out);

  const std::string method_;
  const bool may_switch_;
  const int minor_version_;
  std::unique_ptr<Parser> parser_;
  std::string pending_;  // a line that has not come whole
  std::size_t interim_ = 0;
  bool is_chunked_ = false;  // as it goes on
  bool has_begun_ = false;
  bool is_done_ = false;
  bool is_raw_ = false;
};

}  // namespace hutch::server::http

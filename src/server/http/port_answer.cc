// What a server in a sandbox answers. With http_reader.cc, which reads requests, what includes Boost.
#include "server/http/port_answer.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <utility>
#include <vector>

#include "base/text.h"
#include "server/e2b/port_names.h"
#include "server/protocol/http_connection.h"

namespace hutch::server::http {

namespace {

namespace beast = boost::beast;
using View = beast::string_view;

constexpr std::size_t kInterimAnswersMax = 16;
constexpr int kSwitchingStatus = 101;

// Of the connection, or said anew: where the answer ends is for this to say, not for the sandbox.
constexpr std::array<std::string_view, 8> kOfAnswersConnection = {
    "connection", "keep-alive", "proxy-connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade"};

std::size_t fields_called(const std::vector<Field>& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields, [&](const Field& one) { return equal_ignoring_case(one.name, name); }));
}

const std::string* answer_field(const std::vector<Field>& fields, std::string_view name) {
  const auto found =
      std::ranges::find_if(fields, [&](const Field& one) { return equal_ignoring_case(one.name, name); });
  return found == fields.end() ? nullptr : &found->value;
}

std::string field_line(const Field& field) { return cat({field.name, ": ", field.value, "\r\n"}); }

std::unexpected<Error> no_answer(std::string_view why) {
  return fail(Error::invalid(cat({"the server's answer is damaged: ", why})));
}

}  // namespace

class PortAnswer::Parser final : public beast::http::basic_parser<false> {
 public:
  explicit Parser(std::string_view method) {
    header_limit(kHeadBytesMax);
    body_limit(boost::none);
    skip(method == "HEAD");
  }

  int status = 0;
  std::string reason;
  std::vector<Field> fields;
  std::string body;  // what came of it

 private:
  void on_request_impl(beast::http::verb, View, View, int, beast::error_code& error) override {
    error = beast::http::error::bad_version;
  }
  void on_response_impl(int code, View phrase, int, beast::error_code& error) override {
    error = {};
    status = code;
    reason = {phrase.data(), phrase.size()};
  }
  void on_field_impl(beast::http::field, View name, View value, beast::error_code& error) override {
    error = {};
    if (in_body_) return;  // a trailer: it does not go on
    if (fields.size() >= kFieldsMax) {
      error = beast::http::error::header_limit;
      return;
    }
    fields.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
  }
  void on_header_impl(beast::error_code& error) override {
    error = {};
    in_body_ = true;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code& error) override { error = {}; }
  std::size_t on_body_impl(View bytes, beast::error_code& error) override {
    error = {};
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, beast::error_code& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, beast::error_code& error) override {
    return on_body_impl(bytes, error);
  }
  void on_finish_impl(beast::error_code& error) override { error = {}; }

  bool in_body_ = false;
};

PortAnswer::PortAnswer(const Request& request)
    : method_(request.method),
      may_switch_(asks_for_upgrade(request)),
      minor_version_(request.minor_version),
      parser_(std::make_unique<Parser>(method_)) {}
PortAnswer::~PortAnswer() = default;

// Whoever reads it has to find the same end (RFC 9112 6.3).
std::string PortAnswer::head(const Parser& parser) const {
  std::string text = cat({"HTTP/1.1 ", std::to_string(parser.status), " ", parser.reason, "\r\n"});
  for (const Field& field : parser.fields) {
    const auto is_it = [&](std::string_view name) { return equal_ignoring_case(name, field.name); };
    if (std::ranges::none_of(kOfAnswersConnection, is_it)) text += field_line(field);
  }
  if (parser.status == kSwitchingStatus) {
    const std::string* protocol = answer_field(parser.fields, "upgrade");
    return text + cat({"Upgrade: ", protocol == nullptr ? "" : *protocol, "\r\nConnection: Upgrade\r\n\r\n"});
  }
  const std::string* length = answer_field(parser.fields, "content-length");
  if (is_chunked_) text += "Transfer-Encoding: chunked\r\n";
  if (length != nullptr && parser.status != 204) text += cat({"Content-Length: ", *length, "\r\n"});
  return text + "Connection: close\r\n\r\n";
}

// Its head is whole.
Status PortAnswer::go_on(const Parser& parser, std::string& out) {
  const std::vector<Field>& fields = parser.fields;
  const std::string* encoding = answer_field(fields, "transfer-encoding");
  const std::size_t lengths = fields_called(fields, "content-length");
  if (lengths + fields_called(fields, "transfer-encoding") > 1) return no_answer("two lengths of the body");
  if (encoding != nullptr && !equal_ignoring_case(*encoding, "chunked"))
    return no_answer("an unknown transfer encoding");
  is_chunked_ =
      encoding != nullptr && minor_version_ > 0 && method_ != "HEAD" && parser.status != 204 && parser.status != 304;
  out += head(parser);
  has_begun_ = true;
  is_raw_ = parser.status == kSwitchingStatus;
  return {};
}

void PortAnswer::give_body(Parser& parser, std::string& out) {
  const std::string bytes = std::exchange(parser.body, {});
  if (bytes.empty()) return;
  out += is_chunked_ ? cat({chunk_size(bytes.size()), "\r\n", bytes, "\r\n"}) : bytes;
}

Status PortAnswer::take(std::string_view bytes, std::string& out) {
  if (is_done_) return {};
  if (is_raw_) {
    out += bytes;
    return {};
  }
  pending_ += bytes;
  while (!pending_.empty() && !is_done_) {
    beast::error_code error;
    const std::size_t used = parser_->put(boost::asio::const_buffer(pending_.data(), pending_.size()), error);
    pending_.erase(0, used);
    const bool is_short = error == beast::http::error::need_more;
    if (error && !is_short) return no_answer(error.message());
    if (!has_begun_ && parser_->is_header_done()) {
      const int status = parser_->status;
      if (status < 100 || (status == kSwitchingStatus && !may_switch_))
        return no_answer("a status that nobody asked for");
      // What the client waits for the daemon has said; of the others nobody has to know.
      if (status < 200 && status != kSwitchingStatus) {
        if (++interim_ > kInterimAnswersMax) return no_answer("too many interim answers");
        parser_ = std::make_unique<Parser>(method_);
        continue;
      }
      TRY(go_on(*parser_, out));
      if (is_raw_) {
        out += std::exchange(pending_, {});
        return {};
      }
    }
    give_body(*parser_, out);
    if (parser_->is_done()) {
      if (is_chunked_) out += "0\r\n\r\n";
      is_done_ = true;
      pending_.clear();
    } else if (is_short || used == 0) {
      if (pending_.size() > kHeadBytesMax) return no_answer("a line that is too long");
      return {};
    }
  }
  return {};
}

Status PortAnswer::end(std::string& out) {
  if (is_done_ || is_raw_) return {};
  if (!has_begun_ || !pending_.empty()) return no_answer("it ends too early");
  beast::error_code error;
  parser_->put_eof(error);
  if (error) return no_answer(error.message());
  give_body(*parser_, out);
  is_done_ = true;
  return {};
}

}  // namespace hutch::server::http

// Reads one HTTP/1 request. With port_answer.cc, which reads answers, what includes Boost.
#include "server/protocol/http_reader.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>

#include "base/text.h"

namespace hutch::server::http {

namespace {

namespace beast = boost::beast;
using View = beast::string_view;

// These say who asks, and about which sandbox. If there were two, one reader might take the first and another the last.
constexpr std::array<std::string_view, 7> kSingle = {
    "authorization", "x-api-key",      "x-access-token", "e2b-traffic-access-token",
    "origin",        "e2b-sandbox-id", "mcp-session-id"};

std::string text(View view) { return {view.data(), view.size()}; }

std::string lower_text(View view) {
  std::string lower = text(view);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

Refusal refusal_of_parser(const beast::error_code& error) {
  if (error == beast::http::error::header_limit || error == beast::http::error::buffer_overflow) {
    return {431, "head_too_large", cat({"the head has more than ", std::to_string(kHeadBytesMax), " bytes"})};
  }
  return {400, "bad_request", error.message()};
}

std::size_t count_of(const Request& request, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::count(request.fields, name, &Field::name));
}

// What two readers could take for two different requests (RFC 9112 6.3, 3.2).
std::optional<Refusal> check_head(const Request& request) {
  const auto bad = [](std::string message) { return Refusal{400, "bad_request", std::move(message)}; };
  if (request.fields.size() > kFieldsMax) return Refusal{431, "head_too_large", "too many header fields"};
  const std::string* encoding = request.field("transfer-encoding");
  if (encoding != nullptr && request.field("content-length") != nullptr) return bad("two lengths of the body");
  if (count_of(request, "transfer-encoding") > 1 || count_of(request, "content-length") > 1) {
    return bad("two lengths of the body");
  }
  if (encoding != nullptr && !equal_ignoring_case(*encoding, "chunked")) {
    return Refusal{501, "unsupported", "a transfer encoding other than chunked"};
  }
  if (encoding != nullptr && request.minor_version == 0) return bad("HTTP/1.0 has no chunked bodies");
  for (const std::string_view name : kSingle) {
    if (count_of(request, name) > 1) return bad(cat({"the field ", name, " is there more than once"}));
  }
  const std::size_t hosts = count_of(request, "host");
  if (hosts > 1 || (hosts == 0 && request.minor_version > 0)) return bad("exactly one Host field is needed");
  return std::nullopt;
}

}  // namespace

class RequestReader::Parser final : public beast::http::basic_parser<true> {
 public:
  Parser() {
    header_limit(kHeadBytesMax);
    body_limit(boost::none);
  }

  std::expected<std::size_t, Refusal> take(std::string_view bytes) {
    std::size_t used = 0;
    const bool head_was_done = is_header_done();
    while (used < bytes.size() && !is_done() && is_header_done() == head_was_done) {
      beast::error_code error;
      const std::string_view rest = bytes.substr(used);
      const std::size_t count = put(boost::asio::const_buffer(rest.data(), rest.size()), error);
      used += count;
      if (error == beast::http::error::need_more) break;
      if (error) return std::unexpected(refusal_of_parser(error));
      if (count == 0 && is_header_done() == head_was_done) break;
    }
    if (!head_was_done && is_header_done()) {
      if (auto refusal = check_head(request)) return std::unexpected(std::move(*refusal));
      request.keep_alive = keep_alive();
      request.has_body = !is_done();
      if (const auto length = content_length()) request.length = *length;
      const std::string* expected = request.field("expect");
      if (expected != nullptr && !equal_ignoring_case(*expected, "100-continue")) {
        return std::unexpected(Refusal{417, "expectation_failed", "the only expectation is 100-continue"});
      }
      request.expects_continue = expected != nullptr && request.minor_version > 0;
    }
    return used;
  }

  Request request;

 private:
  void on_request_impl(beast::http::verb, View method, View target, int version, beast::error_code& error) override {
    error = {};
    request.method = text(method);
    request.target = text(target);
    request.minor_version = version % 10;
  }
  void on_response_impl(int, View, int, beast::error_code& error) override { error = beast::http::error::bad_version; }
  void on_field_impl(beast::http::field, View name, View value, beast::error_code& error) override {
    error = {};
    if (in_body_) return;  // a trailer: nothing here has use for one
    if (request.fields.size() > kFieldsMax) {
      error = beast::http::error::header_limit;
      return;
    }
    request.fields.push_back({lower_text(name), text(value)});
  }
  void on_header_impl(beast::error_code& error) override {
    error = {};
    in_body_ = true;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code& error) override { error = {}; }
  std::size_t on_body_impl(View bytes, beast::error_code& error) override {
    error = {};
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, beast::error_code& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, beast::error_code& error) override {
    error = {};
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(beast::error_code& error) override { error = {}; }

  bool in_body_ = false;
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {}
RequestReader::~RequestReader() = default;
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;

std::expected<std::size_t, Refusal> RequestReader::take(std::string_view bytes) { return parser_->take(bytes); }
bool RequestReader::head_done() const { return parser_->is_header_done(); }
bool RequestReader::done() const { return parser_->is_done(); }
Request& RequestReader::request() { return parser_->request; }

}  // namespace hutch::server::http

// HTTP/1 by Beast. The one place of the backends that includes Boost.
#include "backend/container/engine_http.h"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <sstream>

#include "base/text.h"

namespace hutch::backend::container {

namespace {

namespace http = boost::beast::http;

std::unexpected<Error> bad_answer(const boost::beast::error_code& error) {
  return fail({Code::kSystem, 0, cat({"the engine's answer cannot be read: ", error.message()})});
}

}  // namespace

std::string request_text(std::string_view method, std::string_view target, std::string_view body) {
  http::request<http::string_body> request;
  request.method_string({method.data(), method.size()});
  request.target({target.data(), target.size()});
  request.version(11);
  request.set(http::field::host, "localhost");
  request.keep_alive(false);
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = body;
  }
  request.prepare_payload();
  std::ostringstream text;
  text << request;
  return std::move(text).str();
}

std::string chunked_request_head(std::string_view method, std::string_view target, std::string_view type) {
  http::request<http::empty_body> request;
  request.method_string({method.data(), method.size()});
  request.target({target.data(), target.size()});
  request.version(11);
  request.set(http::field::host, "localhost");
  request.set(http::field::content_type, {type.data(), type.size()});
  request.keep_alive(false);
  request.chunked(true);
  std::ostringstream text;
  text << request.base();
  return std::move(text).str();
}

std::string chunk_head(std::size_t bytes) { return boost::beast::buffers_to_string(http::chunk_header(bytes)); }

class AnswerReader::Parser {
 public:
  explicit Parser(std::string_view method) {
    parser.skip(method == "HEAD");
    parser.header_limit(kHeadBytesMax);
    parser.body_limit(kBodyBytesMax);
    parser.eager(true);
  }

  http::response_parser<http::string_body> parser;
  std::string waiting;  // the beginning of something that could not be read alone
};

AnswerReader::AnswerReader(std::string_view method) : parser_(std::make_unique<Parser>(method)) {}
AnswerReader::~AnswerReader() = default;

Status AnswerReader::take(std::string_view bytes) {
  std::string& waiting = parser_->waiting;
  waiting.append(bytes);
  while (!waiting.empty() && !done()) {
    boost::beast::error_code error;
    const std::size_t count = parser_->parser.put(boost::asio::const_buffer(waiting.data(), waiting.size()), error);
    waiting.erase(0, count);
    if (error == http::error::need_more) break;
    if (error) return bad_answer(error);
    if (count == 0) break;
  }
  // One line or chunk head that never ends.
  if (waiting.size() > kHeadBytesMax) return fail({Code::kSystem, 0, "the engine's answer has a head without end"});
  if (done() && !waiting.empty()) return fail({Code::kSystem, 0, "the engine says more than its answer"});
  return {};
}

Status AnswerReader::end() {
  boost::beast::error_code error;
  // put_eof() asserts that there was something.
  if (!done() && parser_->parser.got_some()) parser_->parser.put_eof(error);
  if (error) return bad_answer(error);
  if (!done()) return fail({Code::kSystem, 0, "the engine closed before its answer was whole"});
  return {};
}

bool AnswerReader::done() const { return parser_->parser.is_done(); }

Answer AnswerReader::answer() const {
  const auto& answer = parser_->parser.get();
  const auto header = [&](const char* name) {
    const auto value = answer[name];
    return std::string(value.data(), value.size());
  };
  return {answer.result_int(), answer.body(), header("X-Docker-Container-Path-Stat"), header("Server"),
          header("Api-Version")};
}

}  // namespace hutch::backend::container

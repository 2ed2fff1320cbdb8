// Reads one HTTP/1 message. The one place that includes Boost.
#include "inspect/message_parser.h"

#include <boost/beast/http/basic_parser.hpp>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "inspect/limits.h"

namespace hutch::inspect {

namespace beast = boost::beast;
namespace http = boost::beast::http;

// What has been read so far, whichever kind of message it is.
class MessageParser::Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  virtual ~Reader() = default;

  virtual Status read_head(std::string_view bytes) = 0;
  virtual Result<std::size_t> read_body(std::string_view bytes) = 0;
  virtual Status end() = 0;
  virtual bool done() const = 0;

  Head head;
  Headers trailers;
  Framing framing = Framing::kNone;
  std::string* body = nullptr;  // where the body goes while it is read

 protected:
  Status add_field(std::string_view name, std::string_view value) {
    Headers& headers = in_trailers_ ? trailers : head.headers;
    if (headers.size() >= limits::kHeadersMax) return fail(Error::invalid("too many fields"));
    headers.push_back({std::string(name), std::string(value)});
    return {};
  }
  bool in_trailers_ = false;
};

namespace {

std::string_view plain(beast::string_view text) { return {text.data(), text.size()}; }

Error beast_error(const beast::error_code& code) { return Error::invalid(code.message()); }

}  // namespace

template <bool kIsRequest>
class MessageParser::ReaderOf final : public Reader, private http::basic_parser<kIsRequest> {
 public:
  explicit ReaderOf(MessageKind kind) {
    this->header_limit(static_cast<std::uint32_t>(limits::kHeadBytesMax));
    this->body_limit(boost::none);
    this->skip(kind == MessageKind::kResponseToHead);
  }

  Status read_head(std::string_view bytes) override {
    beast::error_code error;
    const std::size_t used = this->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error) return fail(beast_error(error));
    if (used != bytes.size() || !this->is_header_done()) return fail(Error::invalid("the head is malformed"));
    TRY(check_framing(head));
    in_trailers_ = true;
    framing = framing_of_head();
    return {};
  }

  Result<std::size_t> read_body(std::string_view bytes) override {
    std::size_t used = 0;
    while (used < bytes.size() && !this->is_done()) {
      const std::string_view rest = bytes.substr(used);
      beast::error_code error;
      const std::size_t count = this->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
      used += count;
      if (error == http::error::need_more) break;
      if (error) return fail(beast_error(error));
      if (count == 0) break;
    }
    return used;
  }

  Status end() override {
    if (this->is_done()) return {};
    beast::error_code error;
    this->put_eof(error);
    if (error) return fail(beast_error(error));
    return {};
  }

  bool done() const override { return this->is_done(); }

 private:
  using View = beast::string_view;

  // A response without a length goes on to the end of the connection; put() has to be told nothing for that.
  Framing framing_of_head() const {
    if (this->is_done()) return Framing::kNone;
    if (this->chunked()) return Framing::kChunked;
    if (this->content_length()) return Framing::kLength;
    return Framing::kUntilEnd;
  }

  void on_request_impl(http::verb, View method, View target, int version, beast::error_code& error) override {
    error = {};
    head.method = plain(method);
    head.target = plain(target);
    head.version = version;
  }
  void on_response_impl(int code, View reason, int version, beast::error_code& error) override {
    error = {};
    head.status = code;
    head.reason = plain(reason);
    head.version = version;
  }
  void on_field_impl(http::field, View name, View value, beast::error_code& error) override {
    error = {};
    if (!add_field(plain(name), plain(value))) error = http::error::header_limit;
  }
  void on_header_impl(beast::error_code& error) override { error = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code& error) override { error = {}; }
  std::size_t on_body_impl(View bytes, beast::error_code& error) override {
    error = {};
    body->append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, View, beast::error_code& error) override { error = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, View bytes, beast::error_code& error) override {
    error = {};
    body->append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_finish_impl(beast::error_code& error) override { error = {}; }
};

MessageParser::MessageParser(MessageKind kind) {
  if (kind == MessageKind::kRequest) {
    reader_ = std::make_unique<ReaderOf<true>>(kind);
  } else {
    reader_ = std::make_unique<ReaderOf<false>>(kind);
  }
}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

Status MessageParser::read_head(std::string_view bytes) { return reader_->read_head(bytes); }
const Head& MessageParser::head() const { return reader_->head; }
Framing MessageParser::framing() const { return reader_->framing; }

Result<std::size_t> MessageParser::read_body(std::string_view bytes, std::string& body) {
  reader_->body = &body;
  return reader_->read_body(bytes);
}

Status MessageParser::end() { return reader_->end(); }
bool MessageParser::done() const { return reader_->done(); }
const Headers& MessageParser::trailers() const { return reader_->trailers; }

}  // namespace hutch::inspect

// The head of a request to the HTTP proxy. The one place of the gateway that uses Beast, which reads the heads.
#include "egress/proxy_head.h"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace hutch::egress {

namespace {

namespace http = boost::beast::http;

struct Authority {
  std::string host;
  std::uint16_t port = 0;
};

// The end of a head that is whole; npos until then.
std::size_t head_end(std::string_view bytes) {
  const std::size_t at = bytes.find("\r\n\r\n");
  return at == std::string_view::npos ? at : at + 4;
}

std::optional<std::uint16_t> read_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  return port;
}

// host:port, [v6]:port; without a port `port_default`, which is 0 where there has to be one.
std::optional<Authority> read_authority(std::string_view text, std::uint16_t port_default) {
  if (text.contains('@')) return std::nullopt;
  std::string_view host = text;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (host.empty()) return std::nullopt;
  if (rest.empty()) return port_default != 0 ? std::optional(Authority{std::string(host), port_default}) : std::nullopt;
  const auto port = rest.starts_with(':') ? read_port(rest.substr(1)) : std::nullopt;
  return port ? std::optional(Authority{std::string(host), *port}) : std::nullopt;
}

std::optional<Authority> absolute_target(std::string_view target) {
  static constexpr std::string_view kScheme = "http://";
  static constexpr std::uint16_t kHttpPort = 80;
  if (!target.starts_with(kScheme)) return std::nullopt;
  target.remove_prefix(kScheme.size());
  return read_authority(target.substr(0, target.find_first_of("/?#")), kHttpPort);
}

}  // namespace

ProxyHead read_proxy_head(std::string_view bytes) {
  const std::size_t end = head_end(bytes);
  if (end > kProxyHeadBytesMax) {  // npos is more than any bound
    return {.step = bytes.size() < kProxyHeadBytesMax ? ProxyStep::kMore : ProxyStep::kMalformed,
            .size = 0,
            .host = {},
            .port = 0};
  }
  http::request_parser<http::empty_body> parser;
  parser.header_limit(kProxyHeadBytesMax);
  // The body of a request that is forwarded is not this function's.
  parser.skip(true);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), end), error);
  const ProxyHead malformed{.step = ProxyStep::kMalformed, .size = end, .host = {}, .port = 0};
  if (error || !parser.is_header_done()) return malformed;
  const auto& request = parser.get();
  const std::string_view target(request.target().data(), request.target().size());
  const bool connect = request.method() == http::verb::connect;
  const auto authority = connect ? read_authority(target, 0) : absolute_target(target);
  if (!authority) return malformed;
  return {.step = connect ? ProxyStep::kConnect : ProxyStep::kForward,
          .size = end,
          .host = authority->host,
          .port = authority->port};
}

std::string proxy_refusal(int status, std::string_view reason_phrase, std::string_view error, std::string_view text) {
  return cat({"HTTP/1.1 ", std::to_string(status), " ", reason_phrase,
              "\r\nContent-Type: text/plain\r\nX-Proxy-Error: ", error,
              "\r\nContent-Length: ", std::to_string(text.size() + 1), "\r\nConnection: close\r\n\r\n", text, "\n"});
}

std::string proxy_connected() { return "HTTP/1.1 200 Connection established\r\n\r\n"; }

std::string connect_request(std::string_view host, std::uint16_t port, std::string_view authorization) {
  const bool v6 = host.contains(':');
  const std::string authority = cat({v6 ? "[" : "", host, v6 ? "]:" : ":", std::to_string(port)});
  std::string request = cat({"CONNECT ", authority, " HTTP/1.1\r\nHost: ", authority, "\r\n"});
  if (!authorization.empty()) request += cat({"Proxy-Authorization: ", authorization, "\r\n"});
  return request + "\r\n";
}

ConnectAnswer read_connect_answer(std::string_view bytes) {
  const std::size_t end = head_end(bytes);
  if (end == std::string_view::npos) return {.status = bytes.size() < kProxyHeadBytesMax ? 0 : -1, .size = 0};
  http::response_parser<http::empty_body> parser;
  parser.header_limit(kProxyHeadBytesMax);
  parser.skip(true);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), end), error);
  if (error || !parser.is_header_done()) return {.status = -1, .size = end};
  return {.status = static_cast<int>(parser.get().result_int()), .size = end};
}

}  // namespace hutch::egress

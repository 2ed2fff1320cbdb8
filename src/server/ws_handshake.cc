// The handshake of a WebSocket, with SHA-1 as Beast has it for the same purpose: a header, and no cryptography library.
#include "server/ws_handshake.h"

#include <array>
#include <boost/beast/core/detail/sha1.hpp>

#include "base/base64.h"
#include "base/text.h"

namespace hutch::server::ws {

namespace {

constexpr std::size_t kKeyBytes = 16;

bool is_key(const std::string* text) {
  const auto bytes = text != nullptr ? from_base64(*text) : std::nullopt;
  return bytes && bytes->size() == kKeyBytes;
}

bool lists(const http::Request& request, std::string_view field, std::string_view wanted) {
  const std::string* value = request.field(field);
  return value != nullptr && http::lists_value(*value, wanted);
}

}  // namespace

std::optional<http::Answer> check_upgrade(const http::Request& request) {
  const bool asks =
      request.method == "GET" && lists(request, "upgrade", "websocket") && lists(request, "connection", "upgrade");
  const std::string* version = request.field("sec-websocket-version");
  if (!asks || version == nullptr || *version != "13") {
    http::Answer answer = http::answer_of({426, "upgrade_required", "this path is a WebSocket, version 13"});
    answer.fields.push_back({"Upgrade", "websocket"});
    answer.fields.push_back({"Sec-WebSocket-Version", "13"});
    return answer;
  }
  const bool whole = request.minor_version > 0 && !request.has_body && is_key(request.field("sec-websocket-key"));
  if (whole) return std::nullopt;
  return http::answer_of(
      {400, "bad_request", "a WebSocket begins with HTTP/1.1, no body, and Sec-WebSocket-Key of 16 bytes as base64"});
}

std::string accept_key(std::string_view key) {
  namespace sha1 = boost::beast::detail;
  const std::string text = cat({key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"});
  sha1::sha1_context context;
  sha1::init(context);
  sha1::update(context, text.data(), text.size());
  std::array<char, sha1::sha1_context::digest_size> digest{};
  sha1::finish(context, digest.data());
  return to_base64({digest.data(), digest.size()});
}

}  // namespace hutch::server::ws

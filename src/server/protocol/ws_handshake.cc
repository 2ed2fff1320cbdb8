// The handshake of a WebSocket.
#include "server/protocol/ws_handshake.h"

#include "base/base64.h"
#include "base/sha1.h"
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
  return to_base64(sha1(cat({key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"})));
}

}  // namespace hutch::server::ws

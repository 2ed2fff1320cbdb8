// The handshake of a WebSocket.
#include "server/protocol/ws_handshake.h"

#include <gtest/gtest.h>

namespace hutch::server::ws {
namespace {

http::Request handshake_with(std::vector<http::Field> fields) {
  http::Request request;
  request.method = "GET";
  request.fields = std::move(fields);
  return request;
}

const std::vector<http::Field> kRight = {{"upgrade", "websocket"},
                                         {"connection", "keep-alive, Upgrade"},
                                         {"sec-websocket-version", "13"},
                                         {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}};

// The example of RFC 6455, 1.3.
TEST(WsHandshake, TheProofOfTheKey) {
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WsHandshake, WhatIsNeeded) {
  EXPECT_FALSE(check_upgrade(handshake_with(kRight)));
  for (std::size_t i = 0; i < kRight.size(); ++i) {
    std::vector<http::Field> fields = kRight;
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
    const auto answer = check_upgrade(handshake_with(fields));
    ASSERT_TRUE(answer) << kRight[i].name;
    EXPECT_EQ(answer->status, i == 3 ? 400 : 426);
  }
  std::vector<http::Field> fields = kRight;
  fields[2].value = "8";
  EXPECT_EQ(check_upgrade(handshake_with(fields))->status, 426);
  fields = kRight;
  fields[3].value = "c2hvcnQ=";
  EXPECT_EQ(check_upgrade(handshake_with(fields))->status, 400);
  http::Request old = handshake_with(kRight);
  old.minor_version = 0;
  EXPECT_EQ(check_upgrade(old)->status, 400);
  http::Request head = handshake_with(kRight);
  head.method = "HEAD";
  EXPECT_EQ(check_upgrade(head)->status, 426);
  http::Request body = handshake_with(kRight);
  body.has_body = true;
  EXPECT_EQ(check_upgrade(body)->status, 400);
}

}  // namespace
}  // namespace hutch::server::ws

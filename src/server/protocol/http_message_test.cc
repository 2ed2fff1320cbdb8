// Targets, fields, guards: the parts of HTTP that need no connection.
#include "server/protocol/http_message.h"

#include <gtest/gtest.h>

#include "server/protocol/http_guard.h"
#include "server/protocol/http_reader.h"

namespace hutch::server::http {
namespace {

TEST(HttpMessage, TargetsAreDecoded) {
  const auto target = parse_target("/a%20b/%2e%2e?x=1+2&y=%2B&z&x=3#f");
  ASSERT_TRUE(target.has_value());
  EXPECT_EQ(target->segments, (std::vector<std::string>{"a b", ".."}));
  EXPECT_EQ(*target->parameter("x"), "1 2");
  EXPECT_EQ(*target->parameter("y"), "+");
  EXPECT_EQ(*target->parameter("z"), "");
  EXPECT_EQ(target->parameter("w"), nullptr);
  EXPECT_TRUE(parse_target("/?a=1").has_value());
  for (const char* wrong : {"", "a", "*", "/%", "/%1", "/%zz", "/a%00", "/?x=%00", "http://a/"}) {
    EXPECT_FALSE(parse_target(wrong).has_value()) << wrong;
  }
}

TEST(HttpMessage, ValuesInAList) {
  EXPECT_TRUE(lists_value("text/html, Text/Event-Stream;q=0.5", "text/event-stream"));
  EXPECT_TRUE(lists_value("application/json; charset=utf-8", "application/json"));
  EXPECT_FALSE(lists_value("application/jsonx", "application/json"));
  EXPECT_FALSE(lists_value("", "application/json"));
}

TEST(HttpReader, ARequestInPieces) {
  const std::string text = "POST /x HTTP/1.1\r\nHost: a\r\nX-Y:  b \r\nContent-Length: 5\r\n\r\nhelloGET";
  for (std::size_t first = 0; first < text.size(); ++first) {
    RequestReader reader;
    std::string buffer = text.substr(0, first);
    std::size_t at = first;
    while (!reader.done() && at <= text.size()) {
      const auto taken = reader.take(buffer);
      ASSERT_TRUE(taken.has_value()) << taken.error().message;
      buffer.erase(0, *taken);
      if (*taken == 0 && at < text.size()) buffer += text[at++];
    }
    EXPECT_EQ(reader.request().body, "hello");
    EXPECT_EQ(*reader.request().field("x-y"), "b");
    EXPECT_EQ(buffer + text.substr(at), "GET");
  }
}

TEST(HttpReader, TwoLengthsAreRefused) {
  for (const char* fields :
       {"Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked, chunked\r\n",
        "Content-Length: 1x\r\n", "Host: b\r\n"}) {
    RequestReader reader;
    const auto taken = reader.take(std::string("POST / HTTP/1.1\r\nHost: a\r\n") + fields + "\r\n0\r\n\r\n");
    EXPECT_FALSE(taken.has_value()) << fields;
  }
}

TEST(HttpGuard, WhereToListen) {
  EXPECT_EQ(parse_listen("127.0.0.1:80")->port, 80);
  EXPECT_TRUE(is_loopback(parse_listen("[::1]:0")->address));
  EXPECT_TRUE(is_loopback(parse_listen("localhost:1")->address));
  EXPECT_FALSE(is_loopback(parse_listen("0.0.0.0:1")->address));
  for (const char* wrong : {"", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "a:80", "1.2.3.4:99999"}) {
    EXPECT_FALSE(parse_listen(wrong).has_value()) << wrong;
  }
}

Request request_with(std::vector<Field> fields) {
  Request request;
  request.fields = std::move(fields);
  return request;
}

TEST(HttpGuard, TheTokenAndNothingElse) {
  const Guard guard{.token = "0123456789abcdef", .loopback = true};
  const auto status = [&](std::vector<Field> fields, const Guard* by) {
    const auto refused = check_guard(request_with(std::move(fields)), by);
    return refused ? refused->status : 0;
  };
  EXPECT_EQ(status({{"authorization", "Bearer 0123456789abcdef"}}, &guard), 0);
  EXPECT_EQ(status({{"authorization", "Bearer 0123456789abcdeF"}}, &guard), 401);
  EXPECT_EQ(status({{"authorization", "Bearer "}}, &guard), 401);
  EXPECT_EQ(status({}, &guard), 401);
  EXPECT_EQ(status({}, nullptr), 0);
  EXPECT_EQ(status({{"origin", "https://a.example"}}, nullptr), 403);
  EXPECT_EQ(status({{"origin", "http://localhost"}, {"origin", "https://a.example"}}, nullptr), 403);
  EXPECT_EQ(status({{"host", "a.example"}, {"authorization", "Bearer 0123456789abcdef"}}, &guard), 421);
  const Guard open{.token = guard.token, .loopback = false};
  EXPECT_EQ(status({{"host", "a.example"}, {"authorization", "Bearer 0123456789abcdef"}}, &open), 0);
}

}  // namespace
}  // namespace hutch::server::http

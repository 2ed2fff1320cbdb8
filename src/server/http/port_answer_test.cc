// Answers of servers in sandboxes, as they go on.
#include "server/http/port_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/text.h"

namespace hutch::server::http {
namespace {

using testing::HasSubstr;
using testing::Not;

Request asks_by(std::string method = "GET", std::vector<Field> fields = {}, int minor_version = 1) {
  Request request;
  request.method = std::move(method);
  request.minor_version = minor_version;
  request.fields = std::move(fields);
  return request;
}

struct Passed {
  std::string text;
  bool is_right = true;
  bool is_done = false;
  bool is_raw = false;
  bool operator==(const Passed&) const = default;
};

// In pieces of `size`, and the end.
Passed passed(const Request& request, std::string_view bytes, std::size_t size) {
  PortAnswer answer(request);
  Passed passed;
  for (std::size_t at = 0; at < bytes.size() && passed.is_right; at += size) {
    passed.is_right = answer.take(bytes.substr(at, size), passed.text).has_value();
  }
  if (passed.is_right) passed.is_right = answer.end(passed.text).has_value();
  passed.is_done = answer.is_done();
  passed.is_raw = answer.is_raw();
  return passed;
}

Passed passed(const Request& request, std::string_view bytes) {
  const Passed whole = passed(request, bytes, bytes.size());
  const Passed slow = passed(request, bytes, 1);
  EXPECT_EQ(std::tie(whole.is_right, whole.is_done, whole.is_raw), std::tie(slow.is_right, slow.is_done, slow.is_raw));
  return whole;
}

constexpr std::string_view kForged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";

TEST(PortAnswer, NothingComesBehindIt) {
  const std::string text =
      cat({"HTTP/1.1 200 Fine\r\nX-Own: yes\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n"
           "Proxy-Connection: keep-alive\r\ncontent-length: 2\r\n\r\nok",
           kForged});
  const Passed one = passed(asks_by(), text);
  EXPECT_EQ(one.text, "HTTP/1.1 200 Fine\r\nX-Own: yes\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  EXPECT_TRUE(one.is_done && one.is_right && !one.is_raw);
  for (const char* none : {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_THAT(passed(asks_by(), cat({none, kForged})).text, Not(HasSubstr("forged"))) << none;
  }
  const Passed head = passed(asks_by("HEAD"), cat({"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", kForged}));
  EXPECT_EQ(head.text, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n");
}

TEST(PortAnswer, ChunksEndIt) {
  const std::string text =
      cat({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-T: "
           "1\r\n\r\n",
           kForged});
  const Passed slow = passed(asks_by(), text, 1);
  EXPECT_EQ(slow.text,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n1\r\nd\r\n1\r\ne\r\n0\r\n\r\n");
  EXPECT_THAT(passed(asks_by(), text).text, testing::EndsWith("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_EQ(passed(asks_by("GET", {}, 0), text).text, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcde");
}

TEST(PortAnswer, OrTheEndOfWhatComes) {
  const Passed one = passed(asks_by(), "HTTP/1.0 200 OK\r\n\r\nall of it");
  EXPECT_EQ(one.text, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it");
  EXPECT_TRUE(one.is_done && one.is_right);
}

TEST(PortAnswer, AnotherProtocolWasAskedFor) {
  constexpr std::string_view kSwitched =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade, keep-alive\r\nSec-A: "
      "b\r\n\r\nraw";
  const std::vector<Field> fields{{"connection", "Upgrade"}, {"upgrade", "websocket"}};
  const Passed one = passed(asks_by("GET", fields), kSwitched);
  EXPECT_EQ(one.text,
            "HTTP/1.1 101 Switching Protocols\r\nSec-A: b\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw");
  EXPECT_TRUE(one.is_raw && one.is_right);
  const Passed other = passed(asks_by(), kSwitched);
  EXPECT_TRUE(!other.is_right && other.text.empty());
}

TEST(PortAnswer, InterimAnswersDoNotGoOn) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  EXPECT_EQ(passed(asks_by(), interim + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").text,
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na");
  std::string many;
  for (int i = 0; i < 40; ++i) many += interim;
  EXPECT_FALSE(passed(asks_by(), many).is_right);
}

TEST(PortAnswer, WhatIsNoneIsTold) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& bad :
       {std::string("hello\r\n\r\n"), std::string("SSH-2.0-x\r\n"), std::string("HTTP/1.1 200"),
        std::string("HTTP/2.0 200 OK\r\n\r\n"), std::string("HTTP/1.1 099 No\r\n\r\n"),
        ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ok + "Transfer-Encoding: gzip\r\n\r\n",
        ok + "Content-Length: x\r\n\r\n", ok + "A b: c\r\n\r\n",
        ok + "A: " + std::string(kHeadBytesMax, 'x') + "\r\n\r\n", ok + std::string(60'000, 'x')}) {
    const Passed one = passed(asks_by(), bad);
    EXPECT_TRUE(!one.is_right && one.text.empty()) << bad.substr(0, 80);
  }
  // Begun already: the client sees that it breaks off.
  const Passed cut = passed(asks_by(), ok + "Content-Length: 9\r\n\r\nab");
  EXPECT_TRUE(!cut.is_right && !cut.is_done);
  EXPECT_THAT(cut.text, testing::EndsWith("ab"));
  const Passed broken = passed(asks_by(), ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n");
  EXPECT_FALSE(broken.is_right);
  EXPECT_THAT(broken.text, Not(HasSubstr("0\r\n\r\n")));
}

}  // namespace
}  // namespace hutch::server::http

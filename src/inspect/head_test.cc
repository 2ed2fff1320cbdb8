// The strict look at a head, its framing, and the host and rules that a request is judged by.
#include "inspect/head.h"

#include <gtest/gtest.h>

#include "inspect/forward.h"
#include "inspect/judge.h"
#include "inspect/limits.h"
#include "inspect/message_parser.h"
#include "inspect/target.h"

namespace hutch::inspect {
namespace {

TEST(MeasureHead, GivesTheSizeOnceTheEmptyLineIsThere) {
  const std::string head = "GET /a HTTP/1.1\r\nHost: x\r\nEmpty:\r\n\r\n";
  for (std::size_t size = 0; size < head.size(); ++size) {
    const auto measured = measure_head(std::string_view(head).substr(0, size), MessageKind::kRequest);
    ASSERT_TRUE(measured) << size;
    EXPECT_FALSE(*measured) << size;
  }
  EXPECT_EQ(**measure_head(head + "body", MessageKind::kRequest), head.size());
}

// What ends in an error must do so as soon as the bytes are there, or a client that waits would never hear of it.
TEST(MeasureHead, RefusesAtTheFirstBadLine) {
  for (const char* bytes :
       {"GET / HTTP/1.1\n", "\r\n", "\n", "GET / HTTP/1.1\r\n X: 1\r\n", "GET / HTTP/1.1\r\nX : 1\r\n",
        "GET / HTTP/1.1\r\nX: 1\rY\r\n", "GET /\r\n", "GET / HTTP/1.1 \r\n", "G T / HTTP/1.1\r\n", "GET / HTTP/2.0\r\n",
        "GET /\x7f HTTP/1.1\r\n", "GET /\xc3\xa9 HTTP/1.1\r\n"}) {
    EXPECT_FALSE(measure_head(bytes, MessageKind::kRequest)) << bytes;
  }
  EXPECT_FALSE(measure_head("SSH-2.0-x\r\n", MessageKind::kResponse));
}

TEST(MeasureHead, HasBounds) {
  EXPECT_FALSE(measure_head(std::string(limits::kHeadBytesMax, 'a'), MessageKind::kRequest));
  std::string fields = "GET / HTTP/1.1\r\n";
  for (std::size_t i = 0; i < limits::kHeadersMax; ++i) fields += "X: 1\r\n";
  EXPECT_TRUE(*measure_head(fields + "\r\n", MessageKind::kRequest));
  EXPECT_FALSE(measure_head(fields + "X: 1\r\n\r\n", MessageKind::kRequest));
}

Head with(Headers headers) {
  Head head;
  head.headers = std::move(headers);
  return head;
}

TEST(CheckFraming, TakesOneAnswerAlone) {
  EXPECT_TRUE(check_framing(with({})));
  EXPECT_TRUE(check_framing(with({{"Content-Length", "10"}})));
  EXPECT_TRUE(check_framing(with({{"transfer-encoding", "Chunked"}})));
  EXPECT_FALSE(check_framing(with({{"Content-Length", "10"}, {"content-length", "10"}})));
  EXPECT_FALSE(check_framing(with({{"Content-Length", "10"}, {"Transfer-Encoding", "chunked"}})));
  for (const char* value : {"", "+1", "-1", "1 ", "1,1", "0x1", "9999999999999999999"}) {
    EXPECT_FALSE(check_framing(with({{"Content-Length", value}}))) << value;
  }
  for (const char* value : {"", "gzip", "gzip, chunked", "chunked, chunked", "chunked;x=1", "xchunked"}) {
    EXPECT_FALSE(check_framing(with({{"Transfer-Encoding", value}}))) << value;
  }
  Head old = with({{"Transfer-Encoding", "chunked"}});
  old.version = 10;
  EXPECT_FALSE(check_framing(old));
}

TEST(MessageParser, ReadsABodyInPiecesOfAnySize) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "5;x=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n";
  for (std::size_t step = 1; step <= body.size(); ++step) {
    MessageParser parser(MessageKind::kRequest);
    ASSERT_TRUE(parser.read_head(head));
    EXPECT_EQ(parser.framing(), Framing::kChunked);
    std::string waiting;
    std::string read;
    for (std::size_t at = 0; at < body.size(); at += step) {
      waiting += body.substr(at, step);
      const auto used = parser.read_body(waiting, read);
      ASSERT_TRUE(used) << step;
      waiting.erase(0, *used);
    }
    EXPECT_TRUE(parser.done()) << step;
    EXPECT_EQ(read, "hello world");
    EXPECT_EQ(parser.trailers(), (Headers{{"X-Sum", "1"}}));
  }
}

TEST(MessageParser, StopsAtTheEndOfTheMessage) {
  MessageParser parser(MessageKind::kRequest);
  ASSERT_TRUE(parser.read_head("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n"));
  std::string read;
  EXPECT_EQ(*parser.read_body("helloGET /next", read), 5u);
  EXPECT_EQ(read, "hello");
  EXPECT_TRUE(parser.done());
}

TEST(MessageParser, KnowsWhichAnswersHaveNoBody) {
  MessageParser to_head(MessageKind::kResponseToHead);
  ASSERT_TRUE(to_head.read_head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_TRUE(to_head.done());
  MessageParser unchanged(MessageKind::kResponse);
  ASSERT_TRUE(unchanged.read_head("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_TRUE(unchanged.done());
  MessageParser endless(MessageKind::kResponse);
  ASSERT_TRUE(endless.read_head("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_EQ(endless.framing(), Framing::kUntilEnd);
  std::string read;
  EXPECT_EQ(*endless.read_body("abc", read), 3u);
  EXPECT_FALSE(endless.done());
  EXPECT_TRUE(endless.end());
  MessageParser cut(MessageKind::kResponse);
  ASSERT_TRUE(cut.read_head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"));
  EXPECT_EQ(*cut.read_body("abc", read), 3u);
  EXPECT_FALSE(cut.end());
}

wire::Inspect connection(std::string host, std::uint16_t port) {
  wire::Inspect made;
  made.host = std::move(host);
  made.port = port;
  return made;
}

TEST(Agrees, WithTheHostOfTheConnectionAlone) {
  const wire::Inspect named = connection("example.com", 80);
  for (const char* same : {"example.com", "EXAMPLE.com", "example.com.", "example.com:80", "example.com.:80"}) {
    EXPECT_TRUE(agrees(same, named)) << same;
  }
  for (const char* other : {"", ".", ":80", "example.com:81", "example.com:", "example.com:80:80", "www.example.com",
                            "example.com..", "example.com/", "a@example.com", "example.com,x", "[example.com]"}) {
    EXPECT_FALSE(agrees(other, named)) << other;
  }
  const wire::Inspect six = connection("2001:db8::1", 443);
  EXPECT_TRUE(agrees("[2001:DB8:0::1]", six));
  EXPECT_TRUE(agrees("[2001:db8::1]:443", six));
  EXPECT_FALSE(agrees("[2001:db8::2]", six));
  EXPECT_FALSE(agrees("2001:db8::1", six));
  EXPECT_FALSE(agrees("[2001:db8::1]443", six));
  EXPECT_TRUE(agrees("192.0.2.1:80", connection("192.0.2.1", 80)));
  EXPECT_FALSE(agrees("192.0.2.1", connection("192.0.2.2", 80)));
}

TEST(ReadTarget, TakesAPathOrAUrlOfTheRightScheme) {
  Head head = with({{"Host", "example.com"}});
  head.target = "/a?b";
  EXPECT_EQ(read_target(head, connection("example.com", 80))->path, "/a?b");
  head.target = "HTTP://example.com?q";
  const auto url = read_target(head, connection("example.com", 80));
  ASSERT_TRUE(url);
  EXPECT_EQ(url->authority, "example.com:80");
  EXPECT_EQ(url->path, "/?q");
  for (const char* target :
       {"https://example.com/", "http:///", "http://a@example.com/", "ftp://example.com/", "x", ""}) {
    head.target = target;
    EXPECT_FALSE(read_target(head, connection("example.com", 80))) << target;
  }
}

TEST(RequestHead, IsWrittenAnew) {
  Head head = with({{"Host", "evil"}, {"X-A", "1"}, {"Connection", "x-b"}, {"X-B", "2"}, {"Proxy-X", "3"}});
  head.method = "GET";
  RequestOut how;
  how.target = "/t";
  how.host = "example.com";
  EXPECT_EQ(request_head(head, how), "GET /t HTTP/1.1\r\nHost: example.com\r\nX-A: 1\r\n\r\n");
  policy::HttpRule rule;
  rule.set_headers = {{"X-A", "9"}, {"Transfer-Encoding", "chunked"}, {"X-Bad", "a\r\nX-C: 1"}, {"Bad Name", "1"}};
  rule.remove_headers = {"x-a"};
  how.rule = &rule;
  EXPECT_EQ(request_head(head, how), "GET /t HTTP/1.1\r\nHost: example.com\r\nX-A: 9\r\n\r\n");
}

TEST(HasToken, LooksIntoLists) {
  const Headers headers = {{"Connection", "keep-alive , Upgrade"}, {"connection", "close"}};
  EXPECT_TRUE(has_token(headers, "Connection", "upgrade"));
  EXPECT_TRUE(has_token(headers, "Connection", "close"));
  EXPECT_FALSE(has_token(headers, "Connection", "keep"));
}

}  // namespace
}  // namespace hutch::inspect

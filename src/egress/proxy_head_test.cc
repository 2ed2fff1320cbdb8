// Heads of requests to the proxy: where they want to go, and what is none.
#include "egress/proxy_head.h"

#include <gtest/gtest.h>

namespace hutch::egress {
namespace {

TEST(ProxyHead, Connect) {
  const auto head = read_proxy_head("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n\x16\x03");
  EXPECT_EQ(head.step, ProxyStep::kConnect);
  EXPECT_EQ(head.host, "a.example");
  EXPECT_EQ(head.port, 443);
  EXPECT_EQ(head.size, 55);
  EXPECT_EQ(read_proxy_head("CONNECT [2001:db8::1]:22 HTTP/1.0\r\n\r\n").host, "2001:db8::1");
}

TEST(ProxyHead, Forward) {
  const auto head = read_proxy_head("GET http://a.example:8080/x HTTP/1.1\r\nHost: a.example:8080\r\n\r\n");
  EXPECT_EQ(head.step, ProxyStep::kForward);
  EXPECT_EQ(head.host, "a.example");
  EXPECT_EQ(head.port, 8080);
  EXPECT_EQ(read_proxy_head("POST http://a.example?q HTTP/1.1\r\nContent-Length: 4\r\n\r\n").port, 80);
}

TEST(ProxyHead, More) {
  EXPECT_EQ(read_proxy_head("").step, ProxyStep::kMore);
  EXPECT_EQ(read_proxy_head("CONNECT a.example:443 HTTP/1.1\r\n").step, ProxyStep::kMore);
  EXPECT_EQ(read_proxy_head(std::string(kProxyHeadBytesMax, 'x')).step, ProxyStep::kMalformed);
}

TEST(ProxyHead, Malformed) {
  for (const char* line :
       {"GET / HTTP/1.1", "CONNECT a.example HTTP/1.1", "CONNECT a.example:0 HTTP/1.1",
        "CONNECT a.example:65536 HTTP/1.1", "CONNECT a.example:44x HTTP/1.1", "CONNECT :443 HTTP/1.1",
        "CONNECT u@a.example:443 HTTP/1.1", "GET https://a.example/ HTTP/1.1", "GET http:///x HTTP/1.1",
        "GET http://u:p@a.example/ HTTP/1.1", "CONNECT [::1:443 HTTP/1.1", "nonsense"}) {
    EXPECT_EQ(read_proxy_head(std::string(line) + "\r\n\r\n").step, ProxyStep::kMalformed) << line;
  }
}

TEST(ProxyHead, ParentProxy) {
  EXPECT_EQ(connect_request("::1", 443, "Basic dTpw"),
            "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n");
  EXPECT_EQ(read_connect_answer("HTTP/1.1 200 OK\r\n").status, 0);
  EXPECT_EQ(read_connect_answer("HTTP/1.1 200 OK\r\nVia: x\r\n\r\nrest").status, 200);
  EXPECT_EQ(read_connect_answer("HTTP/1.1 407 No\r\nContent-Length: 9\r\n\r\n").status, 407);
  EXPECT_EQ(read_connect_answer("SSH-2.0-x\r\n\r\n").status, -1);
}

}  // namespace
}  // namespace hutch::egress

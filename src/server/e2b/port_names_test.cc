// Names of ports of sandboxes, and heads of requests for them.
#include "server/e2b/port_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/base64.h"
#include "base/text.h"

namespace hutch::server::http {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::array<std::string, 2> kSecrets = {"", "t4"};

TEST(PortNames, NameASandboxAndAPort) {
  EXPECT_EQ(port_of_host("3000-i0af.localhost:8642"), (SandboxPort{3000, "i0af"}));
  EXPECT_EQ(port_of_host("65535-i0af.example.net"), (SandboxPort{65535, "i0af"}));
  for (const char* other : {"localhost:8642", "127.0.0.1:8642", "3000-i0af", "0-i0af.localhost", "65536-i0af.localhost",
                            "49983-i0af.localhost", "-i0af.localhost", "3000-.localhost", "3000-I0/f.localhost",
                            "3000x-i0af.localhost", "a-b.localhost", "+3-i0af.localhost"}) {
    EXPECT_EQ(port_of_host(other), std::nullopt) << other;
  }
}

TEST(PortNames, TheDomainIsThatOfTheDaemon) {
  EXPECT_EQ(domain_for("127.0.0.1:8642"), "localhost:8642");
  EXPECT_EQ(domain_for("[::1]:8642"), "localhost:8642");
  EXPECT_EQ(domain_for("localhost:1"), "localhost:1");
  EXPECT_EQ(domain_for("49983-i0af.localhost:1"), "localhost:1");
  EXPECT_EQ(domain_for("box.example:8642"), "box.example:8642");
  EXPECT_EQ(domain_for(""), "");
}

TEST(PortNames, TheirPasswordIsNotTheToken) {
  EXPECT_EQ(port_token("one").size(), 43);
  EXPECT_EQ(port_token("one"), port_token("one"));
  EXPECT_NE(port_token("one"), port_token("two"));
}

TEST(PortNames, NothingThatTheDaemonWasShownGoesOn) {
  Request request;
  request.method = "POST";
  request.target = "/a?b=c";
  request.fields = {{"host", "3000-i.localhost"},
                    {"x-access-token", "t1"},
                    {"e2b-traffic-access-token", "t2"},
                    {"x-api-key", "t3"},
                    {"authorization", "Bearer t4"},
                    {"connection", "keep-alive"},
                    {"content-length", "3"},
                    {"cookie", "a=b"}};
  const std::string head = forwarded_head(request, kSecrets);
  EXPECT_EQ(head,
            "POST /a?b=c HTTP/1.1\r\nhost: 3000-i.localhost\r\ncontent-length: 3\r\ncookie: a=b\r\nconnection: "
            "close\r\n\r\n");
  EXPECT_THAT(forwarded_head(request, {}), HasSubstr("authorization: Bearer t4\r\n"));
}

TEST(PortNames, ASecretGoesOnInNoScheme) {
  Request request;
  request.method = "GET";
  request.target = "/";
  for (const Field& one :
       {Field{"authorization", "Bearer t4"}, Field{"authorization", "bEARER  t4"}, Field{"authorization", "t4"},
        Field{"authorization", cat({"Basic ", to_base64("x:t4")})},
        Field{"authorization", cat({"basic ", to_base64("x:t4")})}, Field{"authorization", "BASIC eDp0N"},
        Field{"proxy-authorization", cat({"Basic  ", to_base64("x:t4")})}, Field{"x-key", "t4"},
        Field{"cookie", "a=b; c=t4"}, Field{"x-key", to_base64("t4")}}) {
    request.fields = {{"host", "3000-i.localhost"}, one};
    EXPECT_EQ(forwarded_head(request, kSecrets),
              "GET / HTTP/1.1\r\nhost: 3000-i.localhost\r\nconnection: close\r\n\r\n")
        << one.value;
  }
  for (const Field& one :
       {Field{"authorization", "Bearer t5"}, Field{"authorization", cat({"Basic ", to_base64("x:t5")})},
        Field{"x-note", "Basic words"}}) {
    request.fields = {one};
    EXPECT_THAT(forwarded_head(request, kSecrets), HasSubstr(one.value));
  }
}

TEST(PortNames, APasswordIsThatOfBasic) {
  Request request;
  EXPECT_EQ(basic_password(request), std::nullopt);
  for (const char* scheme : {"Basic ", "basic ", "BASIC  "}) {
    request.fields = {{"authorization", scheme + to_base64("x:a:b")}};
    EXPECT_EQ(basic_password(request), "a:b") << scheme;
    EXPECT_EQ(basic_user(request), "x") << scheme;
  }
  for (const std::string& none :
       {std::string("Basic"), std::string("Basic !"), "Basic " + to_base64("x"), std::string("Bearer eDp5")}) {
    request.fields = {{"authorization", none}};
    EXPECT_EQ(basic_password(request), std::nullopt) << none;
  }
  request.fields = {{"authorization", "bASIC " + to_base64("alone")}};
  EXPECT_EQ(basic_user(request), "alone");
  request.fields = {{"authorization", "Bearer " + to_base64("x:y")}};
  EXPECT_EQ(basic_user(request), std::nullopt);
}

TEST(PortNames, AnUpgradeStays) {
  Request request;
  request.method = "GET";
  request.target = "/";
  request.fields = {{"connection", "keep-alive, Upgrade"}, {"upgrade", "websocket"}, {"sec-websocket-key", "k"}};
  EXPECT_TRUE(asks_for_upgrade(request));
  const std::string head = forwarded_head(request, kSecrets);
  EXPECT_THAT(head, HasSubstr("\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"));
  request.fields[0].value = "keep-alive";
  EXPECT_FALSE(asks_for_upgrade(request));
  EXPECT_THAT(forwarded_head(request, kSecrets), Not(HasSubstr("upgrade")));
}

TEST(PortNames, AnotherPageIsTold) {
  Request request;
  request.fields = {{"host", "3000-a.localhost:1"}};
  EXPECT_FALSE(may_be_of_other_page(request));
  for (const Field& one : {Field{"origin", "http://3000-b.localhost:1"}, Field{"origin", "http://localhost:1"},
                           Field{"sec-fetch-site", "same-site"}, Field{"sec-fetch-site", "cross-site"}}) {
    request.fields.resize(1);
    request.fields.push_back(one);
    EXPECT_TRUE(may_be_of_other_page(request)) << one.value;
  }
  for (const Field& one : {Field{"origin", "http://3000-a.localhost:1"}, Field{"sec-fetch-site", "none"},
                           Field{"sec-fetch-site", "same-origin"}}) {
    request.fields.resize(1);
    request.fields.push_back(one);
    EXPECT_FALSE(may_be_of_other_page(request)) << one.value;
  }
}

TEST(PortNames, AtOtherNamesABrowserHasToSayWhoseThePageIs) {
  Request request;
  EXPECT_TRUE(may_be_of_other_page(request));
  for (const char* name : {"3000-a.box.example:1", "3000-a.localhost.example", "3000-alocalhost", "3000-a.localhost.",
                           "3000-a.localhost@b:1"}) {
    request.fields = {{"host", name}};
    EXPECT_TRUE(may_be_of_other_page(request)) << name;
    request.fields.push_back({"sec-fetch-site", "same-origin"});
    EXPECT_FALSE(may_be_of_other_page(request)) << name;
  }
  request.fields = {{"host", "3000-a.LOCALHOST"}};
  EXPECT_FALSE(may_be_of_other_page(request));
}

}  // namespace
}  // namespace hutch::server::http

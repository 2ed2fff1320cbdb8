// What the page for a secret shows and takes.
#include "server/mcp_api/secret_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace hutch::server {
namespace {

using testing::HasSubstr;
using testing::Not;
using Act = PageAnswer::Act;

class SecretPageTest : public ::testing::Test {
 protected:
  http::Request request(const std::string& method, const std::string& body = {}) {
    return {.method = method,
            .target = "/" + token_,
            .fields = {{"host", authority_}, {"content-type", "application/x-www-form-urlencoded"}},
            .body = body};
  }
  PageAnswer answer(const http::Request& request) const { return answer_page({prompt_, authority_, token_}, request); }

  const std::string authority_ = "127.0.0.1:40000";
  const std::string token_ = "0123456789abcdef";
  service::SecretPrompt prompt_{.id = "1",
                                .agent = "alice",
                                .key = "TOKEN",
                                .description = "<script>alert(1)</script>",
                                .instructions = "\"x\" & 'y'"};
};

TEST_F(SecretPageTest, ShowsWhatIsAskedForAndRunsNothingOfTheAgents) {
  const PageAnswer shown = answer(request("GET"));
  EXPECT_EQ(shown.act, Act::kNone);
  EXPECT_EQ(shown.answer.status, 200);
  EXPECT_THAT(shown.answer.body, HasSubstr("TOKEN"));
  EXPECT_THAT(shown.answer.body, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(shown.answer.body, Not(HasSubstr("<script")));
  EXPECT_THAT(shown.answer.body, HasSubstr("&quot;x&quot; &amp; &#39;y&#39;"));
  bool holds = false;
  for (const http::Field& field : shown.answer.fields) {
    holds = holds || (field.name == "Content-Security-Policy" && field.value.starts_with("default-src 'none'"));
  }
  EXPECT_TRUE(holds);
}

TEST_F(SecretPageTest, TakesAValueAsItWasTyped) {
  const PageAnswer stored = answer(request("POST", "value=a%2Bb+c%26%3D%C3%A4&do=store"));
  EXPECT_EQ(stored.act, Act::kStore);
  EXPECT_EQ(stored.value, "a+b c&=\xc3\xa4");
  EXPECT_THAT(stored.answer.body, Not(HasSubstr("a+b")));
  EXPECT_EQ(answer(request("POST", "value=x")).act, Act::kStore) << "by the Enter key";
  EXPECT_EQ(answer(request("POST", "value=secret&do=cancel")).act, Act::kCancel);
  EXPECT_EQ(answer(request("POST", "value=&do=store")).act, Act::kNone);
  EXPECT_EQ(answer(request("POST", "")).answer.status, 400);
}

TEST_F(SecretPageTest, WhoeverDoesNotKnowTheAddressFindsNothing) {
  for (const char* target : {"/", "/0123456789abcdee", "/0123456789abcdef/x", "/0123456789abcdef0", "x", "//"}) {
    http::Request other = request("POST", "value=x");
    other.target = target;
    EXPECT_EQ(answer(other).answer.status, 404) << target;
    EXPECT_EQ(answer(other).act, Act::kNone) << target;
  }
  // A name that leads to loopback (DNS rebinding), and none at all.
  http::Request rebound = request("GET");
  rebound.fields = {{"host", "evil.example:40000"}};
  EXPECT_EQ(answer(rebound).answer.status, 404);
  rebound.fields.clear();
  EXPECT_EQ(answer(rebound).answer.status, 404);
}

TEST_F(SecretPageTest, AnotherSitesFormIsNoAnswer) {
  http::Request sent = request("POST", "value=x");
  sent.fields.push_back({"origin", "http://evil.example"});
  EXPECT_EQ(answer(sent).act, Act::kNone);
  sent.fields.back().value = "http://" + authority_;
  EXPECT_EQ(answer(sent).act, Act::kStore);
  // What a browser says where the page asks for no referrer.
  sent.fields.back().value = "null";
  EXPECT_EQ(answer(sent).act, Act::kStore);
}

TEST_F(SecretPageTest, WhatIsNoFormIsNoAnswer) {
  http::Request sent = request("POST", "{\"value\": \"x\"}");
  sent.fields[1].value = "application/json";
  EXPECT_EQ(answer(sent).act, Act::kNone);
  sent = request("POST", "value=%zz");
  EXPECT_EQ(answer(sent).answer.status, 400);
  EXPECT_EQ(answer(request("DELETE")).answer.status, 405);
}

}  // namespace
}  // namespace hutch::server

// What is typed, and the requests that follow.
#include "guest/machine/host_command.h"

#include <gtest/gtest.h>

#include <vector>

namespace hutch::guest {
namespace {

std::expected<HostRequest, std::string> request(std::vector<std::string_view> words) { return host_request(words); }

TEST(HostCommandTest, EachCommandIsARequest) {
  const auto secret = request({"secrets", "get", "A/B c"});
  EXPECT_EQ(secret->method, "GET");
  EXPECT_EQ(secret->path, "/api/secrets/A%2FB%20c");
  EXPECT_EQ(request({"config", "set", "k", "v\"\n"})->body, R"({"value":"v\"\u000a"})");
  EXPECT_EQ(request({"log", "m"})->body, R"({"level":"info","message":"m"})");
  EXPECT_EQ(request({"log", "--level", "error", "m"})->body, R"({"level":"error","message":"m"})");
  EXPECT_EQ(request({"events", "emit", "t"})->body, R"({"type":"t","payload_text":"{}"})");
  EXPECT_EQ(request({"events", "listen", "a", "b"})->path, "/api/events/listen?type=a&type=b");
  EXPECT_EQ(request({"agent", "dispatch", "bob", "do it"})->body, R"({"agent_id":"bob","task":"do it"})");
  EXPECT_EQ(request({"agent", "memory", "query", "x"})->path, "/api/agent/memory/query");
  EXPECT_EQ(request({"inference", "chat", "-m", "hi"})->body, R"({"messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(request({"inference", "chat", "--model", "m", "-m", "hi"})->body,
            R"({"model":"m","messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(request({"plugin", "create"})->input, HostInput::kBody);
  EXPECT_EQ(request({"plugin", "check"})->path, "/api/plugin/check");
  EXPECT_EQ(request({"plugin", "check", "a\"b"})->body, R"({"plugin_id":"a\"b"})");
}

TEST(HostCommandTest, TextFromStandardInputHasItsPlace) {
  const auto set = request({"config", "set", "k", "-"});
  EXPECT_EQ(set->input, HostInput::kText);
  EXPECT_EQ(set->body + json_string("v") + set->behind, R"({"value":"v"})");
  const auto chat = request({"inference", "chat", "-m", "-"});
  EXPECT_EQ(chat->body + json_string("v") + chat->behind, R"({"messages":[{"role":"user","content":"v"}]})");
}

TEST(HostCommandTest, JsonIsAskedForBeforeOrBehind) {
  EXPECT_EQ(request({"--json", "config", "get", "k"})->form, HostRequest::Form::kJson);
  EXPECT_EQ(request({"config", "get", "k", "--json"})->form, HostRequest::Form::kJson);
  EXPECT_EQ(request({"config", "get", "k"})->form, HostRequest::Form::kText);
}

TEST(HostCommandTest, WhatIsNoCommand) {
  const std::vector<std::vector<std::string_view>> wrong = {
      {},
      {"nothing"},
      {"secrets"},
      {"secrets", "set", "A"},
      {"secrets", "get"},
      {"config", "get"},
      {"config", "set", "k"},
      {"log"},
      {"log", "a", "b"},
      {"events"},
      {"events", "emit"},
      {"agent", "memory", "query"},
      {"agent", "dispatch", "bob"},
      {"inference", "chat"},
      {"inference", "chat", "-m"},
      {"plugin", "create", "x"},
  };
  for (const auto& words : wrong) EXPECT_FALSE(request(words)) << (words.empty() ? "" : words.back());
}

TEST(HostCommandTest, NamesOfTheProgram) {
  EXPECT_TRUE(is_host_program("hutch-host"));
  EXPECT_TRUE(is_host_program("/run/hutch/bin/osaurus-host"));
  EXPECT_FALSE(is_host_program("/usr/bin/hutch-guest"));
  EXPECT_FALSE(is_host_program("hutch-host/x"));
}

TEST(HostCommandTest, TheRequestIsWhole) {
  EXPECT_EQ(http_bytes({.method = "GET", .path = "/api/config/k"}),
            "GET /api/config/k HTTP/1.0\r\nAccept: text/plain\r\n\r\n");
  EXPECT_EQ(http_bytes({.path = "/api/log", .body = "{}", .form = HostRequest::Form::kJson}),
            "POST /api/log HTTP/1.0\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\n\r\n{}");
}

}  // namespace
}  // namespace hutch::guest

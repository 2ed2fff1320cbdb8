// Requests to the bridge, and the faults of those that are none.
#include "bridge/call.h"

#include <gtest/gtest.h>

namespace hutch::bridge {
namespace {

struct Asked {
  std::string_view method;
  std::vector<std::string> segments;
  std::string_view body;
};

std::expected<Call, Fault> read(const Asked& asked, const std::vector<std::string>& types = {}) {
  return read_call({asked.method, asked.segments, types, asked.body});
}

TEST(BridgeCallTest, WhatIsAsked) {
  EXPECT_EQ(read({"GET", {"api", "secrets", "TOKEN"}, ""})->name, "TOKEN");
  EXPECT_EQ(read({"GET", {"api", "config", "a/b"}, ""})->name, "a/b");
  const auto set = read({"POST", {"api", "config", "k"}, R"({"value":"v"})"});
  EXPECT_EQ(set->service, Service::kConfigSet);
  EXPECT_EQ(set->text, "v");
  const auto log = read({"POST", {"api", "log"}, R"({"message":"m","level":"warn"})"});
  EXPECT_EQ(log->name, "warning");
  EXPECT_EQ(read({"POST", {"api", "log"}, R"({"message":"m"})"})->name, "info");
  const auto emit = read({"POST", {"api", "events", "emit"}, R"({"type":"t","payload":{"a":[1]}})"});
  EXPECT_EQ(emit->text, R"({"a":[1]})");
  EXPECT_EQ(read({"GET", {"api", "events", "listen"}, ""}, {"t"})->types, std::vector<std::string>{"t"});
  const auto kept = read({"POST", {"api", "agent", "memory", "store"}, R"({"content":"c","salience":0.5})"});
  EXPECT_EQ(kept->salience, 0.5);
  const auto task = read({"POST", {"api", "agent", "dispatch"}, R"({"task":"t","agent_id":"bob"})"});
  EXPECT_EQ(task->name, "bob");
  const auto chat = read(
      {"POST", {"api", "inference", "chat"}, R"({"model":"default","messages":[{"role":"user","content":"hi"}]})"});
  EXPECT_EQ(chat->model, "");
  EXPECT_EQ(chat->messages.front().content, "hi");
}

TEST(BridgeCallTest, ABodyHasNoMoreValuesThanItNeeds) {
  const auto with = [](std::size_t values) {
    std::string body = R"({"message":"m","y":[)";
    for (std::size_t i = 0; i < values; ++i) body += "[],";
    return body + "0]}";
  };
  EXPECT_TRUE(read({"POST", {"api", "log"}, with(kBodyValuesMax / 2 - 10)}));
  const auto refused = read({"POST", {"api", "log"}, with(kBodyValuesMax / 2)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, 400);
  // What is within a text is none.
  EXPECT_TRUE(read({"POST", {"api", "log"}, R"({"message":"\\\"[)" + std::string(2 * kBodyValuesMax, ',') + R"("})"}));
}

TEST(BridgeCallTest, Faults) {
  const std::vector<std::pair<Asked, int>> faults = {
      {{"GET", {}, ""}, 404},
      {{"GET", {"api"}, ""}, 404},
      {{"GET", {"other", "secrets"}, ""}, 404},
      {{"GET", {"api", "nothing"}, ""}, 404},
      {{"GET", {"api", "secrets"}, ""}, 400},
      {{"GET", {"api", "secrets", ""}, ""}, 400},
      {{"POST", {"api", "secrets", "A"}, "{}"}, 405},
      {{"GET", {"api", "config"}, ""}, 400},
      {{"DELETE", {"api", "config", "k"}, ""}, 405},
      {{"POST", {"api", "config", "k"}, ""}, 400},
      {{"POST", {"api", "config", "k"}, "[]"}, 400},
      {{"POST", {"api", "config", "k"}, R"({"value":1})"}, 400},
      {{"GET", {"api", "log"}, ""}, 405},
      {{"POST", {"api", "log"}, R"({"message":""})"}, 400},
      {{"POST", {"api", "log"}, R"({"message":"m","level":"loud"})"}, 400},
      {{"POST", {"api", "events", "emit"}, R"({"type":""})"}, 400},
      {{"POST", {"api", "events", "emit"}, R"({"type":"a b"})"}, 400},
      {{"POST", {"api", "events", "emit"}, R"({"type":"a\u0000b"})"}, 400},
      {{"POST", {"api", "events", "emit"}, R"({"type":"a\u001b[2J"})"}, 400},
      {{"POST", {"api", "events", "burn"}, "{}"}, 404},
      {{"GET", {"api", "events", "emit"}, ""}, 404},
      {{"POST", {"api", "inference", "chat"}, R"({"messages":[]})"}, 400},
      {{"POST", {"api", "inference", "chat"}, R"({"messages":["x"]})"}, 400},
      {{"POST", {"api", "inference", "chat"}, R"({"messages":[{"role":"user"}]})"}, 400},
      {{"POST", {"api", "agent", "dispatch"}, R"({"task":""})"}, 400},
      {{"POST", {"api", "agent", "memory"}, "{}"}, 404},
      {{"POST", {"api", "agent", "memory", "burn"}, "{}"}, 404},
      {{"POST", {"api", "agent", "memory", "store"}, R"({"content":""})"}, 400},
      {{"POST", {"api", "agent", "memory", "store"}, R"({"content":"x","salience":2})"}, 400},
  };
  for (const auto& [asked, status] : faults) {
    const auto call = read(asked);
    ASSERT_FALSE(call) << asked.body;
    EXPECT_EQ(call.error().status, status) << asked.method << " " << asked.body << call.error().message;
  }
}

TEST(BridgeCallTest, DeepJsonAndLongMessages) {
  EXPECT_FALSE(read({"POST", {"api", "log"}, std::string(10'000, '[')}));
  const std::string body = R"({"message":")" + std::string(5000, 'x') + R"("})";
  EXPECT_EQ(read({"POST", {"api", "log"}, body})->text.size(), kMessageBytesMax);
}

TEST(BridgeCallTest, AFaultIsJson) { EXPECT_EQ(fault_json({400, "a \"b\""}), R"({"error":"a \"b\""})"); }

}  // namespace
}  // namespace hutch::bridge

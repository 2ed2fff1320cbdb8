// What is read of a client's message, and what is refused.
#include "server/mcp/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/mcp/headers.h"

namespace hutch::server::mcp {
namespace {

using testing::HasSubstr;

Incoming message(std::string_view text) {
  auto read = read_message(text);
  if (auto* error = std::get_if<RpcError>(&read)) ADD_FAILURE() << error->message;
  auto* in = std::get_if<Incoming>(&read);
  return in == nullptr ? Incoming{} : *in;
}

RpcError error(std::string_view text) {
  auto read = read_message(text);
  auto* found = std::get_if<RpcError>(&read);
  if (found == nullptr) ADD_FAILURE() << "it was read: " << text;
  return found == nullptr ? RpcError{} : *found;
}

TEST(McpReader, ARequestWithAll) {
  const Incoming in = message(R"({"jsonrpc":"2.0","id":"a\"1","method":"tools/call","params":{"name":"t",
    "arguments":{"x":[1,{"y":null}]},"uri":"u","level":"info","protocolVersion":"v","requestId":7,"cursor":null,
    "notifications":{"toolsListChanged":true,"resourcesListChanged":false,"other":1},"unknown":3,
    "_meta":{"progressToken":5,"hutch/turn":"t1","io.modelcontextprotocol/protocolVersion":"2026-07-28",
    "io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"error"}}})");
  EXPECT_EQ(in.kind, Incoming::Kind::kRequest);
  EXPECT_EQ(in.id, R"("a\"1")");
  EXPECT_EQ(in.method, "tools/call");
  EXPECT_EQ(in.name, "t");
  EXPECT_EQ(in.arguments_json, R"({"x":[1,{"y":null}]})");
  EXPECT_EQ(in.uri, "u");
  EXPECT_EQ(in.level, "info");
  EXPECT_EQ(in.protocol_version, "v");
  EXPECT_EQ(in.request_id, "7");
  EXPECT_TRUE(in.has_cursor);
  EXPECT_TRUE(in.wants_tools_changed);
  EXPECT_FALSE(in.wants_resources_changed);
  EXPECT_EQ(in.meta.progress_token, "5");
  EXPECT_EQ(in.meta.turn, "t1");
  EXPECT_EQ(in.meta.version, "2026-07-28");
  EXPECT_TRUE(in.meta.has_capabilities);
  EXPECT_EQ(in.meta.log_level, "error");
  EXPECT_EQ(in.wrong, "");
}

TEST(McpReader, NotificationsAndResponses) {
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").kind, Incoming::Kind::kNotification);
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Incoming::Kind::kResponse);
  EXPECT_EQ(message(R"({"jsonrpc":"2.0","id":1,"error":{}})").kind, Incoming::Kind::kResponse);
}

TEST(McpReader, WhatIsNoJson) {
  for (const char* text : {"", " ", "{", "nonsense", "{\"jsonrpc\":\"2.0\",}", "{}{}", "\"\xff\"", "{'a':1}"}) {
    EXPECT_EQ(error(text).code, code::kParse) << text;
  }
}

TEST(McpReader, WhatIsNoRequest) {
  for (const char* text :
       {"1", "null", "[]", "{}", R"({"jsonrpc":"1.0","id":1,"method":"x"})", R"({"jsonrpc":2.0,"id":1,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":5})",
        R"({"jsonrpc":"2.0","id":null,"method":"x"})", R"({"jsonrpc":"2.0","id":1.5,"method":"x"})",
        R"({"jsonrpc":"2.0","id":[],"method":"x"})", R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":null})"}) {
    EXPECT_EQ(error(text).code, code::kInvalidRequest) << text;
  }
  EXPECT_EQ(error(R"({"jsonrpc":"1.0","id":"i","method":"x"})").id, R"("i")");
  EXPECT_EQ(error(R"({"jsonrpc":"2.0","id":null,"method":"x"})").id, "");
}

TEST(McpReader, SizesHaveLimits) {
  const std::string begin = R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"a":)";
  EXPECT_EQ(error(begin + '"' + std::string(kMessageBytesMax, 'x') + "\"}}").code, code::kInvalidRequest);
  EXPECT_EQ(error(begin + '"' + std::string(kMessageBytesMax, 'x') + "\"}}").id, "1");
  EXPECT_EQ(error(begin + '"' + std::string(kMessageBytesMax, 'x')).id, "1") << "cut off by whoever passed it on";
  const std::string large = '"' + std::string(kMessageBytesMax, '[') + '"';
  EXPECT_EQ(error(R"({"params":{"id":2,"a":")" + large.substr(1) + R"(}, "id" : "a\"b" })").id, R"("a\"b")");
  for (const char* odd : {"", "1.5", "{}", "null", "\"", "\"a", "x"}) {
    EXPECT_EQ(error("{\"a\":" + large + ",\"id\":" + odd).id, "") << odd;
  }
  EXPECT_EQ(error(begin + std::string(100, '[') + std::string(100, ']') + "}}").code, code::kInvalidRequest);
  EXPECT_EQ(error(std::string(1'000'000, '[')).code, code::kInvalidRequest);
  EXPECT_EQ(error(R"({"jsonrpc":"2.0","method":"x","id":")" + std::string(2000, 'i') + "\"}").code,
            code::kInvalidRequest);
}

TEST(McpReader, ParametersOfAnotherTypeAreNamed) {
  const auto wrong = [](const std::string& params) {
    return message(R"({"jsonrpc":"2.0","id":1,"method":"x","params":)" + params + "}").wrong;
  };
  EXPECT_EQ(wrong(R"({"name":5,"uri":5})"), "params.name");
  EXPECT_EQ(wrong(R"({"arguments":[]})"), "params.arguments");
  EXPECT_EQ(wrong(R"({"arguments":null})"), "params.arguments");
  EXPECT_EQ(wrong(R"({"requestId":{}})"), "params.requestId");
  EXPECT_EQ(wrong(R"({"_meta":1})"), "params._meta");
  EXPECT_EQ(wrong(R"({"_meta":{"progressToken":1.5}})"), "params._meta.progressToken");
  EXPECT_EQ(wrong(R"({"_meta":{"hutch/turn":1}})"), "params._meta.hutch/turn");
  EXPECT_EQ(wrong(R"({"notifications":{"toolsListChanged":1}})"), "params.notifications.toolsListChanged");
}

TEST(McpReader, Batches) {
  EXPECT_TRUE(is_batch(" \n[1]"));
  EXPECT_FALSE(is_batch("{}"));
  EXPECT_FALSE(is_batch(""));
  EXPECT_EQ(split_batch(R"([{"a":1}, 2])"), (std::vector<std::string>{R"({"a":1})", "2"}));
  for (const char* text : {"[]", "[1", "{}", "[1]x"}) EXPECT_FALSE(split_batch(text).has_value()) << text;
  std::string many = "[0";
  for (std::size_t i = 0; i < kBatchItemsMax; ++i) many += ",0";
  EXPECT_FALSE(split_batch(many + "]").has_value());
}

TEST(McpHeaders, TheModernOnesHaveToAgreeWithTheBody) {
  Incoming in;
  in.method = "tools/call";
  in.name = "r\xc3\xa9sum\xc3\xa9";
  in.meta.version = kModernVersion;
  HttpHeaders headers{"2026-07-28", "tools/call", "=?base64?csOpc3Vtw6k=?="};
  EXPECT_FALSE(check_headers(in, headers).has_value());
  headers.name = "other";
  EXPECT_THAT(check_headers(in, headers)->message, HasSubstr("Mcp-Name 'other' does not match"));
  headers.name = "=?base64?!?=";
  EXPECT_EQ(check_headers(in, headers)->code, code::kHeaderMismatch);
  headers = {"2026-07-28", {}, {}};
  EXPECT_THAT(check_headers(in, headers)->message, HasSubstr("Mcp-Method is missing"));
  headers = {"2025-11-25", "tools/call", in.name};
  EXPECT_THAT(check_headers(in, headers)->message, HasSubstr("MCP-Protocol-Version '2025-11-25'"));
  in.method = "resources/read";
  in.uri = "hutch://a";
  headers = {"2026-07-28", "resources/read", "hutch://b"};
  EXPECT_EQ(check_headers(in, headers)->code, code::kHeaderMismatch);
  in.method = "tools/list";
  headers = {"2026-07-28", "tools/list", {}};
  EXPECT_FALSE(check_headers(in, headers).has_value());
}

TEST(McpHeaders, BeforeThatTheVersionHasToBeOneThatThereIs) {
  Incoming in;
  in.method = "tools/list";
  EXPECT_FALSE(check_headers(in, {}).has_value());
  EXPECT_FALSE(check_headers(in, {"2025-06-18", {}, {}}).has_value());
  EXPECT_EQ(check_headers(in, {"1999-01-01", {}, {}})->code, code::kUnsupportedVersion);
  EXPECT_EQ(check_headers(in, {"2026-07-28", {}, {}})->code, code::kHeaderMismatch);
}

}  // namespace
}  // namespace hutch::server::mcp

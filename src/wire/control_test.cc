// The control descriptor's lines: what is taken, what is refused and how that is said.
#include "wire/control.h"

#include <gtest/gtest.h>

namespace hutch::wire {
namespace {

std::string error_of(std::string_view line) {
  const auto parsed = parse_control(line);
  return parsed ? "" : parsed.error().message;
}

TEST(Control, AnAnswer) {
  const auto parsed = parse_control(R"({"v":1,"type":"answer","id":"q1","choice":"once","minutes":5})");
  ASSERT_TRUE(parsed.has_value());
  const auto& answer = std::get<ControlAnswer>(*parsed);
  EXPECT_EQ(answer.id, "q1");
  EXPECT_EQ(answer.choice, "once");
  EXPECT_EQ(answer.minutes, 5);
}

TEST(Control, AnUpdate) {
  const auto parsed = parse_control(R"({"v":1,"type":"update","policy":{"network":"none"}})");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(std::get<ControlUpdate>(*parsed).policy, R"({"network":"none"})");
}

TEST(Control, WhatClientsOfASocketSay) {
  const auto attend = parse_control(R"({"v":1,"type":"attend"})");
  ASSERT_TRUE(attend.has_value());
  EXPECT_TRUE(std::holds_alternative<ControlAttend>(*attend));
  const auto reload = parse_control(R"({"v":1,"type":"reload"})");
  ASSERT_TRUE(reload.has_value());
  EXPECT_TRUE(std::holds_alternative<ControlReload>(*reload));
  const auto revoke = parse_control(R"({"v":1,"type":"revoke","host":"a.example:443"})");
  ASSERT_TRUE(revoke.has_value());
  EXPECT_EQ(std::get<ControlRevoke>(*revoke).host, "a.example:443");
  EXPECT_EQ(error_of(R"({"v":1,"type":"revoke"})"), "host must be text");
  EXPECT_EQ(error_of(R"({"v":1,"type":"attend","id":"1"})"), "unknown key id; did you mean v?");
  EXPECT_EQ(error_of(R"({"v":1,"type":"reload","poilcy":{}})"), "unknown key poilcy");
}

TEST(Control, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("nonsense"), "a line must be one JSON object");
  EXPECT_EQ(error_of("{}"), "v must be 1");
  EXPECT_EQ(error_of(R"({"v":2,"type":"answer"})"), "v must be 1");
  EXPECT_EQ(error_of(R"({"v":1,"type":"question"})"),
            "unknown type question; known are answer, update, attend, reload and revoke");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x"})"), "choice must be text");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x","choise":"y","choice":"z"})"),
            "unknown key choise; did you mean choice?");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x","choice":"y","minutes":0})"),
            "minutes must be a whole number from 1 to 525600");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":"x"})"), "policy must be an object");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":{}})"), "policy has no network");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":{"network":{},"limits":{}}})"),
            "policy: limits cannot be changed while the sandbox runs; network alone can");
}

TEST(Control, DepthIsBounded) {
  EXPECT_EQ(error_of(std::string(100, '[') + std::string(100, ']')), "JSON nested deeper than 64");
}

TEST(Control, LinesGoOut) {
  EXPECT_EQ(control_error("a \"b\""), "{\"message\":\"a \\\"b\\\"\",\"type\":\"error\",\"v\":1}\n");
  EXPECT_EQ(control_done(R"({"exit_code":3})"), "{\"outcome\":{\"exit_code\":3},\"type\":\"done\",\"v\":1}\n");
  EXPECT_EQ(control_violation({.what = "x\xff", .rule = "built in"}),
            "{\"rule\":\"built in\",\"type\":\"violation\",\"v\":1,\"what\":\"x\xEF\xBF\xBD\"}\n");
  EXPECT_EQ(control_violation({.what = "x", .rule = "", .pid = 7, .program = "/bin/\xff"}),
            "{\"exe\":\"/bin/\xEF\xBF\xBD\",\"pid\":7,\"rule\":\"\",\"type\":\"violation\",\"v\":1,\"what\":\"x\"}\n");
}

TEST(Control, LinesOfASocketGoOut) {
  EXPECT_EQ(control_run({"3f9a", 7, "/w", {"make", "a b"}}, 2),
            "{\"command\":[\"make\",\"a b\"],\"directory\":\"/w\",\"open\":2,\"pid\":7,\"run\":\"3f9a\",\"type\":"
            "\"run\",\"v\":1}\n");
  EXPECT_EQ(control_accepted("3"), "{\"id\":\"3\",\"type\":\"accepted\",\"v\":1}\n");
  EXPECT_EQ(control_reloaded({"network.publish 80"}),
            "{\"left\":[\"network.publish 80\"],\"type\":\"reloaded\",\"v\":1}\n");
  EXPECT_EQ(control_revoked("a.example", 1, 2),
            "{\"connections\":2,\"grants\":1,\"host\":\"a.example\",\"type\":\"revoked\",\"v\":1}\n");
}

TEST(Control, AQuestionSaysHowLongIsLeft) {
  ControlQuestion question;
  question.host = "a.example";
  question.left = std::chrono::milliseconds(1500);
  const std::string line = control_question(question);
  EXPECT_NE(line.find("\"left_ms\":1500"), std::string::npos) << line;
  EXPECT_NE(line.find("\"host\":\"a.example\""), std::string::npos) << line;
}

}  // namespace
}  // namespace hutch::wire

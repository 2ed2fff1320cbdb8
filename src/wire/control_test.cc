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

TEST(Control, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("nonsense"), "control: a line must be one JSON object");
  EXPECT_EQ(error_of("{}"), "control: v must be 1");
  EXPECT_EQ(error_of(R"({"v":2,"type":"answer"})"), "control: v must be 1");
  EXPECT_EQ(error_of(R"({"v":1,"type":"question"})"), "control: unknown type question; known are answer and update");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x"})"), "control: choice must be text");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x","choise":"y","choice":"z"})"),
            "control: unknown key choise; did you mean choice?");
  EXPECT_EQ(error_of(R"({"v":1,"type":"answer","id":"x","choice":"y","minutes":0})"),
            "control: minutes must be a whole number from 1 to 525600");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":"x"})"), "control: policy must be an object");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":{}})"), "control: policy has no network");
  EXPECT_EQ(error_of(R"({"v":1,"type":"update","policy":{"network":{},"limits":{}}})"),
            "control: policy: limits cannot be changed while the sandbox runs; network alone can");
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

}  // namespace
}  // namespace hutch::wire

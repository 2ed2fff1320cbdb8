// The command of a task: its text is one argument, whatever is in it.
#include "service/agent/code_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hutch::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> command(std::vector<std::string> arguments, std::string_view text) {
  return task_command({"agent", std::move(arguments), {}}, "a", text).value();
}

std::string complaint(std::vector<std::string> arguments, std::string_view text) {
  const auto made = task_command({"agent", std::move(arguments), {}}, "a", text);
  return made ? "" : made.error().message;
}

TEST(TaskCommand, TheTextIsTheLastArgument) {
  const std::string text = "it's \"$(reboot)\"; `x`\n\n\\ * 漢";
  EXPECT_THAT(command({"run"}, text), ElementsAre("agent", "run", text));
  EXPECT_THAT(command({}, text), ElementsAre("agent", text));
}

TEST(TaskCommand, OrWhereThePlaceholderIs) {
  EXPECT_THAT(command({"--message={task}", "--yes"}, "a b"), ElementsAre("agent", "--message=a b", "--yes"));
  EXPECT_THAT(command({"{task}", "x{task}y{task}"}, "t"), ElementsAre("agent", "t", "xtyt"));
  EXPECT_THAT(command({"{task}"}, "again {task}"), ElementsAre("agent", "again {task}"));
}

TEST(TaskCommand, ATextIsNoOption) {
  EXPECT_THAT(complaint({}, "--help"), HasSubstr("--"));
  EXPECT_THAT(complaint({"-p", "{task}"}, "-x"), HasSubstr("could take it for an option"));
  EXPECT_THAT(complaint({"{task}", "--"}, "-x"), HasSubstr("could take it for an option"));
  EXPECT_THAT(command({"--"}, "--help"), ElementsAre("agent", "--", "--help"));
  EXPECT_THAT(command({"--", "{task}"}, "-x"), ElementsAre("agent", "--", "-x"));
  EXPECT_THAT(command({"--message={task}"}, "-x"), ElementsAre("agent", "--message=-x"));
}

TEST(TaskCommand, WhatNoArgumentCanBe) {
  EXPECT_THAT(complaint({}, ""), HasSubstr("empty"));
  EXPECT_THAT(complaint({}, std::string_view("a\0b", 3)), HasSubstr("NUL"));
  EXPECT_THAT(complaint({}, "\xff"), HasSubstr("UTF-8"));
  EXPECT_EQ(complaint({}, std::string(kTaskTextBytesMax, 'x')), "");
  EXPECT_THAT(complaint({}, std::string(kTaskTextBytesMax + 1, 'x')), HasSubstr("98304"));
  EXPECT_THAT(complaint({"{task}{task}"}, std::string(kTaskTextBytesMax, 'x')), HasSubstr("131071"));
}

TEST(TaskCommand, WithoutACodingAgentItSaysWhatToType) {
  const auto none = task_command({}, "alice", "x");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnsupported);
  EXPECT_THAT(none.error().message, HasSubstr("hutch agent set alice codeAgent.command="));
}

TEST(CodeAgent, NamesOfVariables) {
  const auto with = [](std::string name, std::string value) {
    return check_code_agent({"c", {}, {{std::move(name), std::move(value)}}}).has_value();
  };
  EXPECT_TRUE(with("A", ""));
  EXPECT_FALSE(with("", "x"));
  EXPECT_FALSE(with("A=B", "x"));
  EXPECT_FALSE(with(std::string("A\0", 2), "x"));
  EXPECT_FALSE(with("A", std::string("x\0", 2)));
  EXPECT_FALSE(check_code_agent({"c", {std::string(kCodeAgentWordBytesMax + 1, 'x')}, {}}));
  EXPECT_FALSE(check_code_agent({"c", std::vector<std::string>(kCodeAgentWordsMax + 1), {}}));
  EXPECT_FALSE(check_code_agent({std::string("c\0", 2), {}, {}}));
  EXPECT_THAT(task_environment({"c", {}, {{"A", "b c"}, {"D", ""}}}), ElementsAre("A=b c", "D="));
}

}  // namespace
}  // namespace hutch::service

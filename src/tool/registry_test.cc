// The table of tools: who may call what, and that docs/tools.md says what the table says.
#include "tool/registry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tool/place_testing.h"

namespace hutch::tool {
namespace {

using Names = std::vector<std::string>;

const Names kReadOnly = {"sandbox_read_file", "sandbox_list_directory", "sandbox_search_files", "sandbox_find_files"};

Names offered(const AgentSettings& settings) {
  Names names;
  for (const Tool* tool : offered_tools(settings)) names.emplace_back(tool->name);
  return names;
}

TEST(Registry, TheSeventeenAndThreeMore) {
  const std::set<std::string> expected = {
      "sandbox_read_file",   "sandbox_list_directory",  "sandbox_search_files", "sandbox_find_files",
      "sandbox_write_file",  "sandbox_edit_file",       "sandbox_move",         "sandbox_delete",
      "sandbox_exec",        "sandbox_exec_background", "sandbox_install",      "sandbox_pip_install",
      "sandbox_npm_install", "sandbox_run_script",      "sandbox_secret_check", "sandbox_secret_set",
      "share_artifact",      "sandbox_plugin_register", "sandbox_process",      "opencode"};
  std::set<std::string> names;
  for (const Tool& tool : all_tools()) names.emplace(tool.name);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(all_tools().size(), expected.size());
}

TEST(Registry, EveryToolIsWhole) {
  for (const Tool& tool : all_tools()) {
    EXPECT_NE(tool.handler, nullptr) << tool.name;
    EXPECT_FALSE(tool.title.empty() || tool.description.size() < 40 || tool.results.empty()) << tool.name;
    EXPECT_EQ(find_tool(tool.name), &tool);
    for (const Parameter& parameter : tool.parameters) {
      EXPECT_FALSE(parameter.description.empty()) << tool.name << " " << parameter.name;
    }
    EXPECT_TRUE(parse_value(json_text(input_schema(tool.parameters)), 1 << 20)) << tool.name;
    EXPECT_TRUE(parse_value(json_text(output_schema(tool.results)), 1 << 20)) << tool.name;
  }
  EXPECT_EQ(find_tool("sandbox_nope"), nullptr);
}

TEST(Registry, WhoIsOfferedWhat) {
  EXPECT_EQ(offered({.name = "a"}), kReadOnly);
  EXPECT_EQ(offered({.name = "a", .autonomous_exec = Permission::kYes}).size(), all_tools().size());
  const Names without = offered({.name = "a", .autonomous_exec = Permission::kYes, .plugin_create = Permission::kNo});
  EXPECT_EQ(without.size(), all_tools().size() - 1);
  EXPECT_EQ(std::ranges::find(without, "sandbox_plugin_register"), without.end());
}

TEST(Registry, WhatIsNotOfferedCannotBeCalled) {
  TestPlace place;
  Caller caller(place);
  caller.settings.autonomous_exec = Permission::kNo;
  for (const Tool& tool : all_tools()) {
    const Value::Object envelope = caller.call(tool.name, {});
    const bool open = std::ranges::find(kReadOnly, tool.name) != kReadOnly.end();
    EXPECT_EQ(text_of(envelope, "kind") == "rejected", !open) << tool.name;
    EXPECT_EQ(text_of(envelope, "tool"), tool.name);
  }
  EXPECT_TRUE(place.commands.empty());
  EXPECT_NE(
      text_of(caller.call("sandbox_exec", {}), "message").find("hutch agent set alice autonomousExec.enabled=true"),
      std::string::npos);
  caller.settings.autonomous_exec = Permission::kYes;
  caller.settings.plugin_create = Permission::kNo;
  EXPECT_EQ(text_of(caller.call("sandbox_plugin_register", {{"plugin_id", "x"}}), "kind"), "rejected");
}

TEST(Registry, UnknownTools) {
  TestPlace place;
  Caller caller(place);
  const Value::Object near = caller.call("sandbox_exce", {});
  EXPECT_EQ(text_of(near, "kind"), "tool_not_found");
  EXPECT_FALSE(truth_of(near, "retryable"));
  EXPECT_EQ(text_of(near, "message"), "There is no tool `sandbox_exce`. Did you mean `sandbox_exec`?");
  EXPECT_EQ(text_of(caller.call("\x1b[2J", {}), "message"), "There is no tool `\\x1b[2J`.");
}

TEST(Registry, WhatThisPlaceDoesNotHaveSaysSo) {
  TestPlace place;
  Caller caller(place);
  const Value::Object set = {{"key", "API_KEY"}, {"description", "d"}, {"instructions", "i"}};
  for (const auto& [tool, arguments] :
       std::vector<std::pair<std::string, Value::Object>>{{"sandbox_secret_check", {{"key", "API_KEY"}}},
                                                          {"sandbox_secret_set", set},
                                                          {"sandbox_plugin_register", {{"plugin_id", "my-plugin"}}}}) {
    const Value::Object envelope = caller.call(tool, arguments);
    EXPECT_EQ(text_of(envelope, "kind"), "unavailable") << tool;
    EXPECT_FALSE(truth_of(envelope, "retryable")) << tool;
  }
  EXPECT_EQ(text_of(caller.call("sandbox_secret_check", {{"key", "1-x"}}), "field"), "key");
  EXPECT_EQ(text_of(caller.call("sandbox_plugin_register", {{"plugin_id", "../x"}}), "field"), "plugin_id");
}

TEST(Registry, RegistersNoMorePluginsInAMinuteThanAreAllowed) {
  TestPlace place;
  Caller caller(place);
  const std::size_t most = RateLimiter::most("http");
  for (std::size_t i = 0; i < most; ++i) {
    EXPECT_EQ(text_of(caller.call("sandbox_plugin_register", {{"plugin_id", "x"}}), "kind"), "unavailable");
  }
  const Value::Object refused = caller.call("sandbox_plugin_register", {{"plugin_id", "x"}});
  EXPECT_EQ(text_of(refused, "kind"), "rejected");
  EXPECT_EQ(text_of(refused, "message"), "Plugin registration rate limit exceeded for this agent.");
  EXPECT_TRUE(truth_of(refused, "retryable"));
}

TEST(Registry, HintsFollowTheClass) {
  EXPECT_EQ(name_of(Class::kReadOnly), "read-only");
  EXPECT_EQ(name_of(Class::kWrite), "write");
  EXPECT_EQ(name_of(Class::kExec), "exec");
  const Annotations read = annotations(Class::kReadOnly);
  EXPECT_TRUE(read.read_only && read.idempotent && !read.destructive && !read.open_world);
  const Annotations write = annotations(Class::kWrite);
  EXPECT_TRUE(!write.read_only && !write.idempotent && write.destructive && !write.open_world);
  const Annotations exec = annotations(Class::kExec);
  EXPECT_TRUE(!exec.read_only && !exec.idempotent && exec.destructive && exec.open_world);
}

// --- docs/tools.md ---

std::string default_text(const Parameter& parameter) {
  if (const auto* number = std::get_if<std::int64_t>(&parameter.fallback)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&parameter.fallback)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string_view>(&parameter.fallback)) return std::string(*text);
  return "";
}

std::string reference_of(const Tool& tool) {
  std::string out = fmt::format("### {}\n\n{}. {}\n\n", tool.name, name_of(tool.kind), tool.description);
  out += "| parameter | type | default | |\n|---|---|---|---|\n";
  for (const Parameter& parameter : tool.parameters) {
    const char* star = parameter.presence == Presence::kRequired ? "*" : "";
    const std::string type =
        parameter.choices.empty() ? std::string(name_of(parameter.type)) : expected_text(parameter);
    out += fmt::format("| `{}`{} | {} | {} | {} |\n", parameter.name, star, type, default_text(parameter),
                       parameter.description);
  }
  out += "\n| result | type | |\n|---|---|---|\n";
  for (const Field& field : tool.results) {
    const char* sometimes = field.presence == Presence::kOptional ? " (not always)" : "";
    out += fmt::format("| `{}` | {} | {}{} |\n", field.name, name_of(field.type), field.description, sometimes);
  }
  return out + "\n";
}

// Everything after the line that says where the generated part begins.
TEST(Registry, TheReferenceIsTheTable) {
  const std::string path = cat({HUTCH_SOURCE_DIR, "/docs/tools.md"});
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string_view mark = "\n## Reference\n\n";
  const std::size_t at = text.str().find(mark);
  ASSERT_NE(at, std::string::npos) << path;
  std::string expected;
  for (const Tool& tool : all_tools()) expected += reference_of(tool);
  expected.pop_back();
  const std::string actual = text.str().substr(at + mark.size());
  const std::string renewed = testing::TempDir() + "hutch-tools-reference.md";
  if (actual != expected) std::ofstream(renewed) << expected;
  EXPECT_EQ(actual, expected) << "what follows \"## Reference\" should be " << renewed;
}

}  // namespace
}  // namespace hutch::tool

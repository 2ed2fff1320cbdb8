// Entries in the configurations of clients of MCP.
#include "service/run/mcp_clients.h"

#include <gtest/gtest.h>

#include <string>

namespace hutch::service {
namespace {

const McpEntry kPlain{"hutch", ""};

std::string with(const char* client, std::string_view text, const McpEntry& entry = kPlain) {
  const auto edited = with_mcp_entry(*find_mcp_client(client), text, entry);
  return edited ? *edited : "error: " + edited.error().message;
}
std::string without(const char* client, std::string_view text) {
  const auto edited = without_mcp_entry(*find_mcp_client(client), text);
  return edited ? *edited : "error: " + edited.error().message;
}

TEST(McpClients, EachFileIsReadAgain) {
  for (const McpClient& client : mcp_clients()) {
    for (const McpEntry& entry : {kPlain, McpEntry{"/opt/a \"b\"\\c/hutch", "alice"}}) {
      const auto made = with_mcp_entry(client, "", entry);
      ASSERT_TRUE(made) << client.name << ": " << made.error().message;
      EXPECT_TRUE(has_mcp_entry(client, *made).value());
      EXPECT_EQ(with_mcp_entry(client, *made, entry).value(), *made) << "twice is once";
      const auto gone = without_mcp_entry(client, *made);
      ASSERT_TRUE(gone) << client.name << ": " << gone.error().message;
      EXPECT_FALSE(has_mcp_entry(client, *gone).value());
      EXPECT_EQ(without_mcp_entry(client, *gone).value(), *gone);
    }
  }
}

TEST(McpClients, SayWhatTheirManualsSay) {
  EXPECT_EQ(with("cursor", "{}"), R"({
  "mcpServers": {
    "hutch": {
      "command": "hutch",
      "args": [
        "mcp"
      ]
    }
  }
}
)");
  EXPECT_EQ(with("codex", "", {"hutch", "bob"}),
            "[mcp_servers.hutch]\ncommand = \"hutch\"\nargs = [\"mcp\", \"--agent\", \"bob\"]\n");
  EXPECT_NE(with("opencode", "").find("\"local\""), std::string::npos);
}

TEST(McpClients, WhatIsThereStaysInItsOrder) {
  const std::string edited = with("claude-code",
                                  "{\n    \"z\": 1,\n    \"mcpServers\": {\"other\": {\"url\": \"u\"},"
                                  " \"hutch\": {\"env\": {\"A\": \"b\"}, \"command\": \"old\"}},\n    \"a\": 2.5\n}");
  EXPECT_LT(edited.find("\"z\""), edited.find("\"mcpServers\""));
  EXPECT_LT(edited.find("\"mcpServers\""), edited.find("\"a\""));
  EXPECT_NE(edited.find("\n    \"z\": 1"), std::string::npos) << "as it was indented";
  EXPECT_NE(edited.find("\"A\": \"b\""), std::string::npos);
  EXPECT_EQ(edited.find("\"old\""), std::string::npos);
  EXPECT_NE(edited.find("\"other\""), std::string::npos);
  EXPECT_EQ(edited.find("\"url\": \"u\"") == std::string::npos, false);
}

TEST(McpClients, CommentsOfTomlStay) {
  const std::string before = "# mine\nmodel = \"m\" # yes\n\n[mcp_servers.other]\ncommand = \"x\"\n";
  const std::string made = with("codex", before);
  EXPECT_EQ(made, before + "\n[mcp_servers.hutch]\ncommand = \"hutch\"\nargs = [\"mcp\"]\n");
  const std::string more = made + "[mcp_servers.hutch.env]\nA = \"b\"\n\n[last]\nx = 1\n";
  EXPECT_EQ(without("codex", more), before + "\n[last]\nx = 1\n");
  EXPECT_EQ(with("codex", more, {"/h", ""}), before +
                                                 "\n[mcp_servers.hutch]\ncommand = \"/h\"\nargs = [\"mcp\"]\n"
                                                 "[mcp_servers.hutch.env]\nA = \"b\"\n\n[last]\nx = 1\n");
}

TEST(McpClients, WhatAPersonHasSetInTomlStays) {
  const std::string head = "[mcp_servers.hutch]\n";
  const std::string rest =
      "# mine\nstartup_timeout_sec = 20\n[mcp_servers.hutch.env]\nA = \"b\"\n\n# of the last\n[last]\nx = 1\n# end\n";
  const std::string entry = "command = \"hutch\"\nargs = [\"mcp\"]\n";
  EXPECT_EQ(with("codex", head + "command = \"old\"\nargs = [\n  \"a\",\n  # b\n]\n" + rest), head + entry + rest);
  EXPECT_EQ(with("codex", "[mcp_servers.hutch.env]\nA = \"b\"\n"),
            "[mcp_servers.hutch.env]\nA = \"b\"\n\n" + head + entry);
  EXPECT_EQ(without("codex", head + entry + rest), "# of the last\n[last]\nx = 1\n# end\n");
  EXPECT_EQ(without("codex", "a = 1\n\n" + head + entry + "\n# end\n"), "a = 1\n\n# end\n");
  EXPECT_NE(with("codex", "mcp_servers.hutch = {command = \"x\", cwd = \"y\"}\n").find("another form"),
            std::string::npos);
}

TEST(McpClients, WhatCannotBeKeptIsNotTouched) {
  EXPECT_NE(with("zed", "{\n// mine\n}").find("comments"), std::string::npos);
  EXPECT_NE(with("zed", "[]").find("no JSON object"), std::string::npos);
  EXPECT_NE(with("zed", "{\"context_servers\": 3}").find("context_servers"), std::string::npos);
  EXPECT_NE(with("cursor", "{").find("no JSON"), std::string::npos);
  for (const char* twice : {R"({"mcpServers": {"a": {}}, "mcpServers": {}})", R"({"x": [{"y": 1, "z": {}, "y": 2}]})",
                            R"({"mcpServers": {"hutch": {}, "hutch": {}}})"}) {
    EXPECT_NE(with("cursor", twice).find("twice"), std::string::npos) << twice;
  }
  EXPECT_EQ(with("cursor", R"({"a": {"b": 1}, "c": {"b": 1}})").find("error: "), std::string::npos);
  EXPECT_NE(with("codex", "a = \n").find("line 1"), std::string::npos);
  // An inline table is closed for what comes later (TOML 1.0, "Inline Table").
  EXPECT_NE(with("codex", "mcp_servers = {other = {command = \"x\"}}\n").find("error: "), std::string::npos);
  EXPECT_NE(without("codex", "mcp_servers = {hutch = {command = \"x\"}}\n").find("another form"), std::string::npos);
  EXPECT_NE(without("codex", "[mcp_servers]\nhutch.command = \"x\"\n").find("another form"), std::string::npos);
  // What only looks like its header.
  const std::string text = "a = '''\n[mcp_servers.hutch]\n'''\n[mcp_servers.hutch]\ncommand = \"x\"\n";
  EXPECT_NE(without("codex", text).find("error: "), std::string::npos);
}

TEST(McpClients, FilesAreWhereTheClientLooks) {
  const auto none = [](std::string_view) -> std::optional<std::string> { return std::nullopt; };
  const auto set = [](std::string_view) -> std::optional<std::string> { return "/c"; };
  const auto relative = [](std::string_view) -> std::optional<std::string> { return "c"; };
  const auto file = [](const char* name, McpScope scope, const Variable& variable) {
    const auto path = mcp_file_of(*find_mcp_client(name), scope, "/h", "/p", variable);
    return path ? *path : path.error().message;
  };
  EXPECT_EQ(file("claude-code", McpScope::kUser, none), "/h/.claude.json");
  EXPECT_EQ(file("claude-code", McpScope::kUser, set), "/c/.claude.json");
  EXPECT_EQ(file("claude-code", McpScope::kProject, set), "/p/.mcp.json");
  EXPECT_EQ(file("codex", McpScope::kUser, set), "/c/config.toml");
  EXPECT_EQ(file("codex", McpScope::kUser, relative), "/h/.codex/config.toml");
  EXPECT_EQ(file("cursor", McpScope::kUser, set), "/h/.cursor/mcp.json");
  EXPECT_NE(file("windsurf", McpScope::kProject, none).find("--project"), std::string::npos);
}

}  // namespace
}  // namespace hutch::service

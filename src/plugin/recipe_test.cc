// Recipes: what is read of them, what is refused, and that nothing gets lost on the way out.
#include "plugin/recipe.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::plugin {
namespace {

std::string recipe_with(std::string_view members) {
  return cat({R"({"name": "Data Tools", "description": "d")", members.empty() ? "" : ", ", members, "}"});
}

std::string why(std::string_view members) {
  const auto recipe = parse_recipe(recipe_with(members));
  return recipe ? "" : recipe.error().message;
}

TEST(RecipeTest, EveryFieldIsRead) {
  const auto recipe = parse_recipe(R"({"name": "Python Data Tools", "description": "Data", "version": "1.0.0",
    "author": "me", "source": "https://example.com", "dependencies": ["python3", "py3-pip"], "setup": "true",
    "files": {"helpers.py": "x = 1\n", "a/b.txt": ""}, "secrets": ["OPENAI_API_KEY"],
    "tools": [{"id": "analyze_csv", "description": "Load", "run": "cat $PARAM_FILE", "timeout": 60,
               "example": {"file": "x.csv"},
               "parameters": {"file": {"type": "string", "description": "Path"},
                              "rows": {"type": "integer", "default": "5"},
                              "how": {"type": "string", "enum": ["a", "b"], "default": "a"}}}],
    "needs": ["display"], "permissions": {"network": "API.example.com, b.example.org", "inference": true}})");
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->id, "python-data-tools");
  EXPECT_EQ(recipe->version, "1.0.0");
  EXPECT_TRUE(recipe->is_plain_list);
  EXPECT_EQ(recipe->dependencies.at("apk"), (std::vector<std::string>{"python3", "py3-pip"}));
  EXPECT_EQ(recipe->files.at("helpers.py"), "x = 1\n");
  ASSERT_EQ(recipe->tools.size(), 1U);
  const Tool& tool = recipe->tools[0];
  EXPECT_EQ(tool.timeout, std::chrono::seconds(60));
  EXPECT_EQ(tool.example, R"({"file":"x.csv"})");
  ASSERT_EQ(tool.parameters.size(), 3U);
  EXPECT_EQ(tool.parameters[0].name, "file");
  EXPECT_FALSE(tool.parameters[0].fallback);
  EXPECT_EQ(tool.parameters[1].kind, Kind::kInteger);
  EXPECT_EQ(tool.parameters[1].fallback, "5");
  EXPECT_EQ(variable_of("output_format"), "PARAM_OUTPUT_FORMAT");
  EXPECT_EQ(recipe->secrets, std::vector<std::string>{"OPENAI_API_KEY"});
  EXPECT_EQ(recipe->network.kind, NetworkPermission::Kind::kHosts);
  EXPECT_EQ(recipe->network.hosts, (std::vector<std::string>{"api.example.com", "b.example.org"}));
  EXPECT_TRUE(recipe->inference);
  EXPECT_EQ(recipe->needs, std::vector<std::string>{"display"});
}

TEST(RecipeTest, EventsAreDeclared) {
  static constexpr std::string_view kTools =
      R"("tools": [{"id": "hear", "description": "d", "run": "true", "parameters": {"payload": {"type": "object"}}},
                   {"id": "more", "description": "d", "run": "true", "parameters": {"x": {"type": "string"}}}])";
  const auto with = [](std::string_view members) { return recipe_with(cat({kTools, ", ", members})); };
  const auto recipe = parse_recipe(with(R"("events": {"subscribe": ["a.b", "c"], "emit": ["d"]}, "onEvent": "hear")"));
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->events.subscribe, (std::vector<std::string>{"a.b", "c"}));
  EXPECT_EQ(recipe->events.emit, (std::vector<std::string>{"d"}));
  EXPECT_EQ(recipe->events.tool, "hear");
  for (const char* members : {R"("events": {"subscribe": ["a b"]})", R"("events": {"emit": [""]})", R"("events": [])",
                              R"("events": {"subscribe": ["a"]}, "onEvent": "no")", R"("onEvent": "hear")",
                              R"("events": {"subscribe": ["a"]}, "onEvent": "more")"}) {
    EXPECT_FALSE(parse_recipe(with(members))) << members;
  }
}

TEST(RecipeTest, WhatTurnsTextAroundIsExportedByItsNumber) {
  const auto recipe = parse_recipe(recipe_with("\"setup\": \"a\u202eb\u2066\""));
  ASSERT_TRUE(recipe);
  const std::string text = exported(*recipe);
  EXPECT_NE(text.find("a\\u202eb\\u2066"), std::string::npos);
  const auto again = parse_recipe(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->setup, recipe->setup);
  EXPECT_EQ(content_hash(*again), content_hash(*recipe));
}

TEST(RecipeTest, WhatATerminalObeysAndWhatShowsNothingIsExportedByItsNumber) {
  const auto recipe = parse_recipe(recipe_with("\"setup\": \"a\u009b2J\x7f\u200b\ufeff\U000e0041 é文🔑\""));
  ASSERT_TRUE(recipe);
  const std::string text = exported(*recipe);
  EXPECT_NE(text.find("a\\u009b2J\\u007f\\u200b\\ufeff\\udb40\\udc41 é文🔑"), std::string::npos) << text;
  const auto again = parse_recipe(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->setup, recipe->setup);
  EXPECT_EQ(content_hash(*again), content_hash(*recipe));
}

TEST(RecipeTest, WhatIsUnknownIsKeptInItsOrder) {
  const auto recipe =
      parse_recipe(recipe_with(R"("zebra": {"a": [1, 2.5, null]}, "apple": "ü", "mcp": {"command": "x"})"));
  ASSERT_TRUE(recipe);
  const std::string text = exported(*recipe);
  EXPECT_LT(text.find("zebra"), text.find("apple"));
  EXPECT_NE(text.find("2.5"), std::string::npos);
  EXPECT_EQ(recipe->notes.size(), 1U);
  const auto again = parse_recipe(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->json, recipe->json);
  const auto made = restricted(*recipe, "agent_tool");
  ASSERT_TRUE(made);
  EXPECT_NE(made->json.find("zebra"), std::string::npos);
  const auto copy = renamed(*recipe, "Other");
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->id, "other");
  EXPECT_NE(copy->json.find("zebra"), std::string::npos);
}

TEST(RecipeTest, TheHashIsOfWhatItMeans) {
  const auto one = parse_recipe(R"({"name": "A", "description": "d", "modifiedAt": "x"})");
  const auto other = parse_recipe(R"({"description": "d", "modifiedAt": "y", "name": "A"})");
  const auto third = parse_recipe(R"({"description": "e", "name": "A"})");
  ASSERT_TRUE(one && other && third);
  EXPECT_EQ(content_hash(*one), content_hash(*other));
  EXPECT_NE(content_hash(*one), content_hash(*third));
}

TEST(RecipeTest, NamesAndIdsThatLeadElsewhereAreRefused) {
  for (const char* name : {"../x", "..", ".", "a/b", "", "   ", "-a", "a-", "Ä", "a.b", "sandbox", "share", "a\\nb"}) {
    const std::string text = cat({R"({"description": "d", "name": ")", name, "\"}"});
    EXPECT_FALSE(parse_recipe(text)) << name;
  }
  for (const char* id : {"../x", "A", "a_b", "sandbox", "a b", "x/../y"}) {
    EXPECT_NE(why(cat({R"("id": ")", id, "\""})), "") << id;
  }
  EXPECT_EQ(why(R"("id": "mine")"), "");
  EXPECT_FALSE(parse_recipe(cat({R"({"description": "d", "name": ")", std::string(41, 'a'), "\"}"})));
}

TEST(RecipeTest, PathsThatLeadElsewhereAreRefused) {
  for (const char* path :
       {"../x", "/etc/passwd", "a/../../x", "a//b", "", "./a", "a/.", "a\\\\b", "a/", "a\\u0000b", "a\\nb"}) {
    EXPECT_NE(why(cat({R"("files": {")", path, R"(": "x"})"})), "") << path;
  }
  EXPECT_NE(why(R"("files": {"a": "x", "a/b": "y"})"), "");
  EXPECT_NE(why(R"("files": {"a": 1})"), "");
  EXPECT_EQ(why(R"("files": {"a": "x", "ab/c": "y", ".hidden": ""})"), "");
}

TEST(RecipeTest, ToolsAndParametersAreHeld) {
  const auto tool = [](std::string_view rest) {
    return why(cat({R"("tools": [{"description": "d", "run": "x", )", rest, "}]"}));
  };
  EXPECT_EQ(tool(R"("id": "a")"), "");
  for (const char* id : {"", "../x", "a b", "a/b", "1/", "ä"}) EXPECT_NE(tool(cat({R"("id": ")", id, "\""})), "") << id;
  EXPECT_NE(tool(R"("id": "a", "timeout": 301)"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"x": {"type": "text"}})"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"x": {"type": "integer", "default": "five"}})"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"x": {"type": "string", "enum": ["a"], "default": "b"}})"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"x=y": {"type": "string"}})"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"x\n": {"type": "string"}})"), "");
  EXPECT_NE(tool(R"("id": "a", "parameters": {"file": {"type": "string"}, "FILE": {"type": "string"}})"), "");
  EXPECT_NE(
      why(R"("tools": [{"id": "a", "description": "d", "run": "x"}, {"id": "a", "description": "d", "run": "y"}])"),
      "");
  EXPECT_NE(why(R"("tools": [{"id": "a", "description": "d"}])"), "");
}

TEST(RecipeTest, TheRestIsHeld) {
  EXPECT_NE(why(R"("secrets": ["PATH"])"), "");
  EXPECT_NE(why(R"("dependencies": {"brew": ["x"]})"), "");
  EXPECT_NE(why(R"("dependencies": "x")"), "");
  EXPECT_NE(why(R"("permissions": {"network": "*.example.com"})"), "");
  EXPECT_NE(why(R"("permissions": {"network": "10.0.0.1"})"), "");
  EXPECT_NE(why(R"("permissions": {"inference": "yes"})"), "");
  EXPECT_NE(why(R"("setup": 5)"), "");
  const auto broken = parse_recipe("{\n\"name\": \"a\",\n\"x\": }");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("line 3"), std::string::npos) << broken.error().message;
}

TEST(RecipeTest, AnAgentsOwnHasLess) {
  const auto network = [](std::string_view given) {
    const auto recipe =
        parse_recipe(recipe_with(cat({R"("permissions": {"inference": true, "network": ")", given, "\"}"})));
    const auto made = restricted(*recipe, "host_bridge");
    EXPECT_TRUE(made);
    EXPECT_FALSE(made->inference);
    EXPECT_EQ(made->created_by, "agent");
    EXPECT_NE(made->json.find(R"("created_via":"host_bridge")"), std::string::npos);
    return made->network;
  };
  EXPECT_EQ(network("outbound").kind, NetworkPermission::Kind::kNone);
  EXPECT_EQ(network("").kind, NetworkPermission::Kind::kNone);
  EXPECT_EQ(network("A.example.com,b.example.com").hosts, (std::vector<std::string>{"a.example.com", "b.example.com"}));
  const auto silent = parse_recipe(recipe_with(R"("metadata": {"created_by": "me", "kept": 1})"));
  const auto made = restricted(*silent, "agent_tool");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->network.kind, NetworkPermission::Kind::kNone);
  EXPECT_EQ(made->created_by, "agent");
  EXPECT_NE(made->json.find("\"kept\":1"), std::string::npos);
}

TEST(RecipeTest, ItsOwnFilesWin) {
  const auto recipe = parse_recipe(recipe_with(R"("files": {"a.py": "mine"})"));
  const auto merged = with_files(*recipe, {{"a.py", "other"}, {"b.py", "b"}});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->files.at("a.py"), "mine");
  EXPECT_EQ(merged->files.at("b.py"), "b");
  EXPECT_FALSE(with_files(*recipe, {{"../b", "x"}}));
}

}  // namespace
}  // namespace hutch::plugin

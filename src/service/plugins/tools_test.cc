// Arguments of plugins' tools: as variables, or refused.
#include "service/plugins/tools.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace hutch::service {
namespace {

using Texts = std::vector<std::string>;

plugin::Recipe recipe_of(std::string_view parameters) {
  return *plugin::parse_recipe(
      cat({R"({"name": "My Tool", "description": "d", "tools": [{"id": "go", "description": "d",
    "run": "x", "parameters": )",
           parameters, "}]}"}));
}

const char* const kAll = R"({"file": {"type": "string"}, "rows": {"type": "integer", "default": "5"},
  "ratio": {"type": "number", "default": 0.5}, "deep": {"type": "boolean", "default": false},
  "names": {"type": "array", "default": "[]"}, "how": {"type": "string", "enum": ["a", "b"], "default": "a"}})";

TEST(PluginToolsTest, ArgumentsAndDefaultsAreVariables) {
  const plugin::Recipe recipe = recipe_of(kAll);
  const auto variables = plugin_variables(
      recipe.tools[0], R"({"file": "a 'b' $c\n", "rows": "7", "deep": "true", "names": ["x", 1], "ratio": 2})");
  ASSERT_TRUE(variables);
  EXPECT_EQ(*variables, (Texts{"PARAM_FILE=a 'b' $c\n", "PARAM_ROWS=7", "PARAM_RATIO=2", "PARAM_DEEP=true",
                               "PARAM_NAMES=[\"x\",1]", "PARAM_HOW=a"}));
  EXPECT_EQ(plugin_variables(recipe.tools[0], R"({"file": "f", "rows": null})")->at(1), "PARAM_ROWS=5");
  EXPECT_EQ(plugin_variables(recipe.tools[0], R"({"file": "f", "rows": 3.0})")->at(1), "PARAM_ROWS=3");
}

TEST(PluginToolsTest, WhatDoesNotFitIsRefusedByName) {
  const plugin::Recipe recipe = recipe_of(kAll);
  const auto field = [&](std::string_view arguments) {
    const auto variables = plugin_variables(recipe.tools[0], arguments);
    return variables ? std::string("taken") : variables.error().field;
  };
  EXPECT_EQ(field("{}"), "file");
  EXPECT_EQ(field(R"({"file": 5})"), "file");
  EXPECT_EQ(field(R"({"file": "a\u0000b"})"), "file");
  EXPECT_EQ(field(cat({R"({"file": ")", std::string(200'000, 'x'), "\"}"})), "file");
  EXPECT_EQ(field(R"({"file": "f", "rows": "many"})"), "rows");
  EXPECT_EQ(field(R"({"file": "f", "rows": 1.5})"), "rows");
  EXPECT_EQ(field(R"({"file": "f", "deep": "maybe"})"), "deep");
  EXPECT_EQ(field(R"({"file": "f", "names": "x"})"), "names");
  EXPECT_EQ(field(R"({"file": "f", "how": "c"})"), "how");
  EXPECT_EQ(field(R"({"file": "f", "LD_PRELOAD": "x"})"), "LD_PRELOAD");
  EXPECT_EQ(field(R"({"file": "f", "FILE": "x"})"), "FILE");
  EXPECT_EQ(field(R"({"file": "f", "x=y\nPATH": "x"})"), "x=y\\x0aPATH");
  EXPECT_EQ(field("[]"), "");
  EXPECT_EQ(field("{"), "");
}

TEST(PluginToolsTest, TheSchemaSaysWhatIsTaken) {
  const plugin::Recipe recipe = recipe_of(kAll);
  const std::string schema = tool::json_text(plugin_input_schema(recipe.tools[0]));
  EXPECT_NE(schema.find(R"("additionalProperties":false)"), std::string::npos);
  EXPECT_NE(schema.find(R"("required":["file"])"), std::string::npos);
  EXPECT_NE(schema.find(R"("rows":{"default":5,"type":"integer"})"), std::string::npos) << schema;
  EXPECT_EQ(plugin_tool_name(recipe, recipe.tools[0]), "my-tool_go");
}

}  // namespace
}  // namespace hutch::service

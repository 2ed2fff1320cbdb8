// A plugin's tools as they are offered and called: schemas, and arguments as variables of the command. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/recipe.h"
#include "tool/envelope.h"
#include "tool/value.h"

namespace hutch::service {

// "python-data-tools_analyze_csv".
std::string plugin_tool_name(const plugin::Recipe& recipe, const plugin::Tool& tool);

tool::Value plugin_input_schema(const plugin::Tool& tool);
tool::Value plugin_output_schema();

// "PARAM_FILE=..." of each argument and each default. What the tool has no parameter for is refused, and what is
// missing or of another type; as lenient as the other tools' arguments are.
std::expected<std::vector<std::string>, tool::Envelope> plugin_variables(const plugin::Tool& tool,
                                                                         std::string_view arguments_json);

}  // namespace hutch::service

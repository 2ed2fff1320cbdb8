// The members of a recipe, one by one. For recipe.cc and what is beside it: the JSON library is in here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plugin/recipe.h"

namespace hutch::plugin::parts {

enum class Presence { kOptional, kRequired };

// Of an absent one "".
Result<std::string> text(const nlohmann::ordered_json& object, const char* key, std::size_t bytes_max,
                         Presence presence = Presence::kOptional);
Result<std::vector<std::string>> texts(const nlohmann::ordered_json& object, const char* key, std::size_t bytes_max);

Status read_dependencies(const nlohmann::ordered_json& object, Recipe& recipe);
Result<Tool> read_tool(const nlohmann::ordered_json& object);
// "outbound", "none", "a.com,b.com".
Result<NetworkPermission> read_network(std::string_view text);

// Of JSON that is none: the line, and what is wrong there.
std::string where_it_fails(std::string_view text);

}  // namespace hutch::plugin::parts

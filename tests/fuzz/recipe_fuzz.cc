// Recipes of plugins, which come from anywhere: what is taken is held to every rule, and comes out as it went in.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "plugin/commands.h"
#include "plugin/recipe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch;
  const auto recipe = plugin::parse_recipe({reinterpret_cast<const char*>(data), size});
  if (!recipe) {
    CHECK(!recipe.error().message.empty());
    return 0;
  }
  CHECK(plugin::check_id(recipe->id).has_value());
  for (const auto& [path, text] : recipe->files) CHECK(plugin::check_file_path(path).has_value());
  for (const plugin::Tool& tool : recipe->tools) {
    CHECK(recipe->id.size() + 1 + tool.id.size() <= plugin::kToolNameBytesMax && !tool.id.contains('/'));
    for (const auto& parameter : tool.parameters) {
      CHECK(!plugin::variable_of(parameter.name).contains('='));
    }
  }
  const auto again = plugin::parse_recipe(plugin::exported(*recipe));
  CHECK(again && again->id == recipe->id && plugin::content_hash(*again) == plugin::content_hash(*recipe));
  const auto made = plugin::restricted(*recipe, "agent_tool");
  if (made) {
    CHECK(!made->inference && made->network.kind != plugin::NetworkPermission::Kind::kOfAgent);
  }
  (void)plugin::check_hosts(*recipe, {});
  (void)plugin::packages_for(*recipe, "apt");
  return 0;
}

// A recipe in the user's editor.
#include "cli/agents/plugin_editor.h"

#include "base/text.h"
#include "cli/terminal/own_daemon.h"
#include "plugin/recipe.h"
#include "service/run/editor.h"
#include "sys/files/tree.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::string_view kSkeleton = R"(// A plugin: lines that begin with // are comments, and are left out.
{
  "name": "My Tool",
  "description": "What it is for",
  "version": "1.0.0",
  // System packages, by Alpine's names, or by manager: {"apk": ["py3-x"], "apt": ["python3-x"]}
  "dependencies": [],
  // Runs once in the plugin's directory, as the agent
  "setup": "",
  // Files of the plugin's directory, by relative path
  "files": {
    "hello.sh": "printf 'hello %s\\n' \"$PARAM_NAME\"\n"
  },
  "tools": [
    {
      "id": "hello",
      "description": "Greet somebody",
      // Each is a variable of the command, PARAM_NAME; without a default it is required
      "parameters": {
        "name": {"type": "string", "description": "Whom", "default": "world"}
      },
      "run": "sh hello.sh",
      "example": {"name": "you"}
    }
  ],
  // Names of values that the tools have as variables
  "secrets": [],
  // outbound, none, or hosts: "api.example.com,cdn.example.com"
  "permissions": {"network": "none", "inference": false}
}
)";

// The lines stay in number, so that an error's is the file's.
std::string without_comments(std::string_view text) {
  std::string made;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t begin = line.find_first_not_of(" \t");
    const bool is_comment = begin != std::string_view::npos && line.substr(begin).starts_with("//");
    if (!is_comment) made += line;
    made += '\n';
  }
  return made;
}

}  // namespace

Result<Value> edit_plugin(client::DaemonClient& daemon, const PluginArguments& arguments) {
  const bool creates = arguments.action == "create";
  std::string before(kSkeleton);
  if (!creates) before = text_in(TRY(daemon.call("plugin.export", {{"id", arguments.source}})), "recipe");
  Value result;
  const service::EditTask task{
      .directory = TRY(own_dirs()).config,
      .text = before,
      .environment = sys::own_environment(),
      .check = [](const std::string& text, const std::string& file) -> Status {
        TRY_CTX(plugin::parse_recipe(without_comments(text)), file);
        return {};
      },
      .save = [&](const std::string& text) -> Status {
        const std::string json = without_comments(text);
        const plugin::Recipe recipe = TRY(plugin::parse_recipe(json));
        if (!creates && recipe.id != arguments.source) {
          return fail(Error::invalid(cat({"it is plugin ", recipe.id, " now: hutch plugin duplicate makes another"})));
        }
        result = TRY(daemon.call("plugin.import", {{"recipe", wire::text_of_bytes(json)}, {"from", "the editor"}}));
        return {};
      }};
  if (TRY(service::edit_text(task)) == service::EditEnd::kUnchanged) {
    return fail(Error::invalid("nothing was changed"));
  }
  return result;
}

}  // namespace hutch::cli

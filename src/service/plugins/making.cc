// Plugins that agents make: one way for the tool and for the bridge, and what is refused before anything is written.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "plugin/commands.h"
#include "policy/network/hosts.h"
#include "service/agent/sandbox_place.h"
#include "service/agent/skills.h"
#include "service/plugins/installation.h"
#include "service/plugins/plugins.h"
#include "service/plugins/tools.h"
#include "store/settings_file.h"
#include "tool/steps.h"

namespace hutch::service {

namespace {

using tool::Envelope;
using tool::Value;

constexpr std::string_view kManifest = "plugin.json";
constexpr std::uint32_t kListedMax = 2000;

Envelope refused_plugin(tool::Kind kind, std::string message) { return tool::final_failure(kind, std::move(message)); }

bool is_hidden(std::string_view path) { return path.starts_with('.') || path.contains("/."); }

// The whole of a file of the plugin's directory, or nothing where it is too large for a recipe.
Result<std::optional<std::string>> read_file(tool::Place& place, const std::string& root, const std::string& path,
                                             std::size_t bytes_max) {
  const auto content = TRY(tool::ask<wire::FileContent>(place, wire::ReadFile{{root, path}, 0, bytes_max}));
  if (content.stat.version.size > content.bytes.size()) return std::optional<std::string>();
  return std::optional(content.bytes);
}

struct Collected {
  std::map<std::string, std::string> files;
  std::vector<std::string> offending;
};

// What is no text would be lost when the recipe is installed elsewhere: nothing is left out in silence.
Result<Collected> collect(tool::Place& place, const std::string& root) {
  const auto listed =
      TRY(tool::ask<wire::FileEntries>(place, wire::ListDirectory{{root, "."}, plugin::kFileDepthMax, kListedMax}));
  if (listed.found > listed.entries.size()) {
    return fail(Error::invalid(cat({"the directory has more than ", std::to_string(kListedMax), " entries"})));
  }
  Collected collected;
  for (const wire::FileEntry& entry : listed.entries) {
    if (is_hidden(entry.path) || entry.path == kManifest || entry.stat.kind == wire::FileKind::kDirectory) continue;
    auto text = entry.stat.kind == wire::FileKind::kRegular
                    ? TRY(read_file(place, root, entry.path, plugin::kFileBytesMax))
                    : std::nullopt;
    const bool is_text = text && is_utf8(*text) && !text->contains('\0');
    if (!is_text) {
      collected.offending.push_back(printable(entry.path, 100));
    } else {
      collected.files.emplace(entry.path, std::move(*text));
    }
  }
  return collected;
}

}  // namespace

// The package managers' own hosts, and those that the user allows all agents; what the agent's policy has is for the
// gateway to say.
Result<std::vector<std::string>> Plugins::hosts_for_set_up(AgentSandbox& agent) {
  std::vector<std::string> entries = TRY_CTX(agent.recipe_hosts(), "find the hosts of packages");
  if (const auto settings = agents_.settings())
    std::ranges::copy(settings->security.allowed_hosts, std::back_inserter(entries));
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    if (const auto parsed = policy::parse_host_port(entry)) names.push_back(parsed->host.name);
  }
  return names;
}

Status Plugins::check_hosts(AgentSandbox& agent, const plugin::Recipe& recipe) {
  if (plugin::check_hosts(recipe, {})) return {};
  return plugin::check_hosts(recipe, TRY(hosts_for_set_up(agent)));
}

std::optional<Envelope> Plugins::refuse(const Made& made) {
  const auto agent = agents_.sandbox(made.agent);
  if (!agent) return tool::failed("Failed to find the agent", agent.error(), tool::Retry::kYes);
  const store::AutonomousExec may = (*agent)->autonomous_exec();
  if (!may.enabled || !may.plugin_create)
    return refused_plugin(tool::Kind::kRejected, "Plugin creation is disabled for this agent");
  if (!Skills(agents_.dirs()).is_enabled(kPluginSkill)) {
    return refused_plugin(tool::Kind::kRejected, "Plugin creation is disabled: its person has switched the skill off");
  }
  if (const Status hosts = check_hosts(**agent, made.recipe); !hosts) {
    return refused_plugin(tool::Kind::kInvalidArgs, hosts.error().message);
  }
  const std::string own = cat({"agent ", made.agent});
  const auto known = library_.find(made.recipe.id);
  if (!known) return tool::failed("Failed to look into the library", known.error(), tool::Retry::kYes);
  if (*known && (*known)->origin.from != own) {
    return refused_plugin(tool::Kind::kInvalidArgs,
                          cat({"The id ", made.recipe.id, " is another plugin's: give this one another name"}));
  }
  std::vector<std::string> missing;
  for (const std::string& name : made.recipe.secrets) {
    const auto secret = agents_.secrets().find(made.agent, name);
    if (!secret || !*secret) missing.push_back(name);
  }
  if (!missing.empty()) {
    return tool::failure(tool::Kind::kInvalidArgs,
                         cat({"Missing secrets for plugin: ", join(missing, ", "),
                              ". Call `sandbox_secret_set` (or have the user provide values) for each before "
                              "re-registering."}));
  }
  const auto installs = installs_.of(made.agent);
  if (!installs) return tool::failed("Failed to look at the plugins", installs.error(), tool::Retry::kYes);
  const auto is_made = [&](const auto& one) {
    return one->recipe.created_by == "agent" && one->recipe.id != made.recipe.id;
  };
  if (static_cast<std::size_t>(std::ranges::count_if(*installs, is_made)) >= kMadePluginsMax) {
    return refused_plugin(tool::Kind::kRejected, cat({"This agent has made ", std::to_string(kMadePluginsMax),
                                                      " plugins, which is the most: the user can remove some"}));
  }
  return std::nullopt;
}

std::expected<Value::Object, Envelope> Plugins::make(const Made& made) {
  if (auto why = refuse(made)) return std::unexpected(std::move(*why));
  auto recipe = plugin::restricted(made.recipe, made.via);
  if (!recipe) return std::unexpected(refused_plugin(tool::Kind::kInvalidArgs, recipe.error().message));
  const auto installed = install({.agent = made.agent,
                                  .recipe = std::move(*recipe),
                                  .from = cat({"agent ", made.agent}),
                                  .stop = made.stop,
                                  .by = Wish::By::kAgent,
                                  .admit = [&]() -> Status {
                                    const auto why = refuse(made);
                                    return why ? fail({Code::kConflict, 0, why->message}) : Status();
                                  }});
  if (!installed) {
    return std::unexpected(
        tool::failure(tool::Kind::kExecutionError, cat({"Plugin installation failed: ", installed.error().message})));
  }
  Value::List tools;
  for (const plugin::Tool& one : installed->recipe.tools) {
    tools.emplace_back(
        Value::Object{{"name", plugin_tool_name(installed->recipe, one)}, {"description", one.description}});
  }
  return Value::Object{{"status", "installed"},
                       {"plugin_id", installed->recipe.id},
                       {"plugin_name", installed->recipe.name},
                       {"tools", std::move(tools)}};
}

std::expected<Value::Object, Envelope> Plugins::make_from_text(const std::string& agent, const std::string& json) {
  auto recipe = plugin::parse_recipe(json);
  if (!recipe) {
    return std::unexpected(
        refused_plugin(tool::Kind::kInvalidArgs, cat({"Invalid plugin JSON: ", recipe.error().message})));
  }
  return make({.agent = agent, .recipe = std::move(*recipe), .via = "host_bridge"});
}

std::expected<Value, Envelope> Plugins::try_from_text(const std::string& agent, const std::string& json) {
  auto recipe = plugin::parse_recipe(json);
  if (!recipe) {
    return std::unexpected(
        refused_plugin(tool::Kind::kInvalidArgs, cat({"Invalid plugin JSON: ", recipe.error().message})));
  }
  return try_out({.agent = agent, .recipe = std::move(*recipe), .via = "host_bridge"});
}

std::expected<Value, Envelope> Plugins::try_from_directory(AgentSandbox& agent, const std::string& id) {
  static constexpr std::chrono::seconds kPatience{30};
  SandboxPlace place(agent, kPatience, {});
  auto recipe = recipe_of_directory(id, place);
  if (!recipe) return std::unexpected(std::move(recipe).error());
  return try_out({.agent = agent.record().name, .recipe = std::move(*recipe), .via = "host_bridge"});
}

std::expected<Value, Envelope> Plugins::try_out(const Made& made) {
  if (auto why = refuse(made)) return std::unexpected(std::move(*why));
  const auto restricted = plugin::restricted(made.recipe, made.via);
  if (!restricted) return std::unexpected(refused_plugin(tool::Kind::kInvalidArgs, restricted.error().message));
  if (!trial_) return std::unexpected(tool::failure(tool::Kind::kUnavailable, "There is no pool of sandboxes here"));
  {
    const std::scoped_lock lock(trials_mutex_);
    if (!trials_.insert(made.agent).second) {
      return std::unexpected(
          tool::failure(tool::Kind::kUnavailable, "A plugin of this agent is being tried already: one at a time"));
    }
  }
  auto told = trial_(*restricted);
  {
    const std::scoped_lock lock(trials_mutex_);
    trials_.erase(made.agent);
  }
  if (!told) return std::unexpected(tool::failed("Failed to try the plugin", told.error(), tool::Retry::kYes));
  return std::move(*told);
}

std::expected<plugin::Recipe, Envelope> Plugins::recipe_of_directory(const std::string& id, tool::Place& place) {
  if (const Status is_id = plugin::check_id(id); !is_id) {
    return std::unexpected(
        tool::bad_argument("plugin_id", is_id.error().message, "the name of a directory below ~/plugins"));
  }
  const std::string root = plugin_directory(place.layout(), id);
  const auto manifest = read_file(place, root, std::string(kManifest), plugin::kRecipeBytesMax);
  if (!manifest && manifest.error().code == Code::kNotFound) {
    return std::unexpected(
        refused_plugin(tool::Kind::kExecutionError, cat({"plugin.json not found at plugins/", id, "/plugin.json"})));
  }
  if (!manifest) {
    return std::unexpected(tool::failed("Failed to read plugin.json", manifest.error(), tool::Retry::kYes));
  }
  const auto wrong = [&](std::string message) {
    return std::unexpected(
        tool::bad_argument("plugin_id", std::move(message), "a directory with a plugin.json that holds"));
  };
  if (!*manifest) return wrong("Invalid plugin.json: it is too large.");
  auto recipe = plugin::parse_recipe(**manifest);
  if (!recipe) return wrong(cat({"Invalid plugin.json: ", recipe.error().message}));
  if (recipe->id != id) {
    return wrong(cat({"Invalid plugin.json: its name makes the id ", recipe->id,
                      "; name the directory so, or give it \"id\": \"", id, "\""}));
  }
  const auto collected = collect(place, root);
  if (!collected) {
    return wrong(cat({"The files of `plugins/", id, "/` cannot be packaged: ", collected.error().message}));
  }
  if (!collected->offending.empty()) {
    return wrong(
        cat({"Binary files in `plugins/", id,
             "/` cannot be packaged into a sandbox plugin (`plugin.files` is text-only, without links, each at "
             "most 1 MiB). Remove them, make them again in `setup`, or fetch them there from an allowed host. "
             "Offending files: ",
             join(collected->offending, ", "), "."}));
  }
  recipe = plugin::with_files(*recipe, collected->files);
  if (!recipe) return wrong(cat({"The files of `plugins/", id, "/` cannot be packaged: ", recipe.error().message}));
  return std::move(*recipe);
}

Envelope Plugins::make_from_directory(const std::string& agent, const std::string& id, tool::Place& place,
                                      const std::stop_token& stop) {
  auto recipe = recipe_of_directory(id, place);
  if (!recipe) return std::move(recipe).error();
  auto made = make({.agent = agent, .recipe = std::move(*recipe), .via = "agent_tool", .stop = stop});
  if (!made) return std::move(made).error();
  made->erase("status");
  return tool::success(std::move(*made));
}

}  // namespace hutch::service

// hutch plugin and hutch skill.
#include "cli/agents/plugin.h"

#include <algorithm>

#include "base/text.h"
#include "cli/agents/agent_system.h"
#include "cli/agents/plugin_editor.h"
#include "cli/terminal/hidden_line.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "plugin/recipe.h"
#include "secret/secret.h"
#include "service/plugins/source.h"
#include "sys/io.h"
#include "sys/process/host_info.h"
#include "tool/envelope.h"
#include "wire/daemon.h"

namespace hutch::cli {

namespace {

using client::Value;

constexpr std::size_t kCellBytesMax = 80;
constexpr std::size_t kValueBytesMax = 64 << 10;

const Value::List& list_in(const Value& object, std::string_view key) {
  static const Value::List kNone;
  const Value* member = member_of(object, key);
  const auto* list = member != nullptr ? member->get<Value::List>() : nullptr;
  return list != nullptr ? *list : kNone;
}

std::string joined(const Value& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const Value& one : list_in(object, key)) {
    if (const auto* text = one.get<std::string>()) texts.push_back(*text);
    if (const auto* number = one.get<std::int64_t>()) texts.push_back(std::to_string(*number));
  }
  return join(texts, ",");
}

int print_installs(const Value& installs) {
  const auto* list = installs.get<Value::List>();
  if (list == nullptr || list->empty()) {
    return print("no plugins; hutch plugin install FILE --agent NAME installs one, --library shows what there is\n");
  }
  std::string whys;
  std::vector<std::vector<std::string>> rows = {{"AGENT", "PLUGIN", "VERSION", "STATE", "TOOLS"}};
  for (const Value& one : *list) {
    rows.push_back({text_in(one, "agent"), text_in(one, "id"), printable(text_in(one, "version"), kCellBytesMax),
                    text_in(one, "state"), joined(one, "tools")});
    const std::string reason = text_in(one, "reason");
    if (!reason.empty()) whys += cat({text_in(one, "id"), ": ", printable(reason, 400), "\n"});
  }
  return print(table(rows) + whys);
}

int print_library(const Value& entries) {
  const auto* list = entries.get<Value::List>();
  if (list == nullptr || list->empty()) return print("none\n");
  std::vector<std::vector<std::string>> rows = {{"PLUGIN", "NUMBER", "VERSION", "FROM", "WHAT"}};
  for (const Value& one : *list) {
    rows.push_back({text_in(one, "id"), std::to_string(number_in(one, "number")),
                    printable(text_in(one, "version"), kCellBytesMax), printable(text_in(one, "from"), kCellBytesMax),
                    printable(text_in(one, "description"), kCellBytesMax)});
    const std::string why = text_in(one, "damaged");
    if (!why.empty()) rows.back() = {text_in(one, "id"), "-", "-", "-", cat({"cannot be read: ", printable(why, 200)})};
  }
  return print(table(rows));
}

int print_plugin(const Value& plugin) {
  std::vector<std::vector<std::string>> rows;
  for (const char* name : {"id", "name", "description", "version", "from", "added", "created_by"}) {
    const std::string value = text_in(plugin, name);
    if (!value.empty()) rows.push_back({name, printable(value, 400)});
  }
  rows.push_back({"numbers", joined(plugin, "numbers")});
  std::string text = table(rows);
  for (const Value& tool : list_in(plugin, "tools")) {
    text += cat({"tool ", text_in(tool, "name"), ": ", printable(text_in(tool, "description"), 400), "\n"});
  }
  for (const Value& install : list_in(plugin, "installed")) {
    const std::string reason = text_in(install, "reason");
    text += cat({"agent ", text_in(install, "agent"), ": ", text_in(install, "state"), ", ",
                 text_in(install, "installed"), reason.empty() ? "" : ", ", printable(reason, 400), "\n"});
    for (const Value& step : list_in(install, "log")) {
      const std::string log = text_in(step, "log");
      for (const std::string_view line : split(log, '\n')) {
        if (!line.empty()) text += cat({"  ", text_in(step, "step"), ": ", printable(line, 400), "\n"});
      }
    }
  }
  return print(text);
}

Value recipe_bytes(const std::string& json) { return Value(wire::text_of_bytes(json)); }

// What is missing is asked for on a terminal; elsewhere the installation says what it is.
Status ask_secrets(client::DaemonClient& daemon, const plugin::Recipe& recipe, const std::string& agent) {
  if (sys::stream_kind(0) != sys::StreamKind::kTerminal) return {};
  for (const std::string& name : recipe.secrets) {
    if (truth_in(TRY(daemon.call("secret.check", {{"agent", agent}, {"name", name}})), "exists")) continue;
    const std::string question =
        cat({"Value of ", name, " for agent ", agent, ", which ", printable(recipe.name, 64), " uses (not shown): "});
    std::string value = TRY(read_hidden_line(question, secret::kValueBytesMax));
    TRY(secret::check_value(value));
    TRY(daemon.call("secret.set", {{"agent", agent}, {"name", name}, {"value", wire::text_of_bytes(value)}}));
  }
  return {};
}

Status tell_step(const Value& event) {
  const std::string said = text_in(event, "line");
  for (const std::string_view line : split(said, '\n')) {
    if (line.empty()) continue;
    TRY(sys::write_all(
        2, cat({"hutch: ", text_in(event, "agent"), ": ", text_in(event, "step"), ": ", printable(line, 400), "\n"})));
  }
  return {};
}

// Of an installation, an update or a rollback, as they come.
std::function<Status(const Value&)> plugin_steps(const PluginArguments& arguments) {
  if (arguments.form == service::OutputForm::kJson) return [](const Value&) { return Status(); };
  return tell_step;
}

// A second time after a yes to what the first lacked.
Result<Value> install_for(client::DaemonClient& daemon, Value::Object call, const plugin::Recipe& recipe,
                          const std::function<Status(const Value&)>& tell) {
  InstallNeed need;
  const auto on_event = [&](const Value& event) -> Status {
    if (member_of(event, hutch::tool::kNeeds) == nullptr) return tell(event);
    // What an agent made is opened nothing.
    const bool opens = truth_in(event, "registries") && recipe.created_by != "agent";
    need = InstallNeed{text_in(event, "agent"), text_in(event, hutch::tool::kNeeds), opens ? recipe.setup : ""};
    return {};
  };
  auto done = daemon.call("plugin.install", call, on_event);
  if (done) return done;
  TRY(give_what_is_needed(daemon, need, done.error()));
  call["registries"] = !need.set_up.empty();
  return daemon.call("plugin.install", std::move(call), tell);
}

Result<Value> install(client::DaemonClient& daemon, const PluginArguments& arguments) {
  const bool is_source = service::is_plugin_source(arguments.source);
  Value::Object object;
  std::string json;
  if (is_source) {
    const host::StateDirs dirs = TRY(own_dirs());
    const auto fetched = TRY(service::fetch_recipe(arguments.source, dirs));
    json = fetched.json;
    object = {{"recipe", recipe_bytes(json)}, {"from", fetched.from}};
  } else {
    json = text_in(TRY(daemon.call("plugin.export", {{"id", arguments.source}})), "recipe");
    object = {{"id", arguments.source}};
  }
  const plugin::Recipe recipe = TRY(plugin::parse_recipe(json));
  std::vector<std::string> agents = arguments.agents;
  if (agents.empty()) agents.emplace_back();
  Value::List done;
  for (const std::string& agent : agents) {
    Value::Object call = object;
    if (agent.empty()) {
      call["directory"] = TRY(sys::working_directory());
    } else {
      call["agent"] = agent;
      TRY(ask_secrets(daemon, recipe, agent));
    }
    done.push_back(TRY(install_for(daemon, std::move(call), recipe, plugin_steps(arguments))));
  }
  return Value(std::move(done));
}

Result<Value> remove_plugin(client::DaemonClient& daemon, const PluginArguments& arguments) {
  if (arguments.agents.empty()) return daemon.call("plugin.remove", {{"id", arguments.source}});
  Value::List agents;
  for (const std::string& agent : arguments.agents) {
    TRY(daemon.call("plugin.remove", {{"id", arguments.source}, {"agent", agent}}));
    agents.emplace_back(agent);
  }
  return Value(Value::Object{{"id", arguments.source}, {"agents", std::move(agents)}, {"library", false}});
}

Result<Value> with_source(client::DaemonClient& daemon, const PluginArguments& arguments) {
  Value::Object object;
  const std::string& source = arguments.action == "update" ? arguments.second : arguments.source;
  if (arguments.action == "update") object["id"] = arguments.source;
  if (!source.empty()) {
    const host::StateDirs dirs = TRY(own_dirs());
    const auto fetched = TRY(service::fetch_recipe(source, dirs));
    TRY_CTX(plugin::parse_recipe(fetched.json), printable(source));
    object["recipe"] = recipe_bytes(fetched.json);
    object["from"] = fetched.from;
  }
  return daemon.call(cat({"plugin.", arguments.action}), std::move(object), plugin_steps(arguments));
}

Result<Value> call_plugin(client::DaemonClient& daemon, const PluginArguments& arguments) {
  const std::string& action = arguments.action;
  const std::string agent = arguments.agents.empty() ? std::string() : arguments.agents.front();
  if (action == "install") return install(daemon, arguments);
  if (action == "remove") return remove_plugin(daemon, arguments);
  if (action == "import" || action == "update") return with_source(daemon, arguments);
  if (action == "create" || action == "edit") return edit_plugin(daemon, arguments);
  if (action == "list" && (arguments.library || arguments.only_new)) {
    return daemon.call("plugin.library", {{"new", arguments.only_new}});
  }
  if (action == "list") return daemon.call("plugin.list", {{"agent", agent}});
  if (action == "show") return daemon.call("plugin.show", {{"id", arguments.source}, {"agent", agent}});
  if (action == "duplicate") {
    return daemon.call("plugin.duplicate", {{"id", arguments.source}, {"name", arguments.second}});
  }
  return daemon.call(cat({"plugin.", action}), {{"id", arguments.source}, {"number", arguments.number}},
                     plugin_steps(arguments));
}

Result<Value> values(client::DaemonClient& daemon, const PluginArguments& arguments) {
  Value::Object object = {{"id", arguments.source}};
  if (arguments.agents.empty()) {
    object["directory"] = TRY(sys::working_directory());
  } else {
    object["agent"] = arguments.agents.front();
  }
  if (arguments.action == "config list") return daemon.call("plugin.values", std::move(object));
  const std::string& word = arguments.second;
  const std::size_t equals = arguments.action == "config set" ? word.find('=') : word.size();
  if (equals == std::string::npos)
    return fail(Error::invalid("hutch plugin config set ID KEY=VALUE, or KEY=- to read it"));
  object["key"] = word.substr(0, equals);
  if (arguments.action == "config get") return daemon.call("plugin.value", std::move(object));
  std::string value = word.substr(equals + 1);
  if (value == "-") {
    value = TRY_CTX(sys::read_to_end(0, kValueBytesMax), "read the value from standard input");
    if (value.ends_with('\n')) value.pop_back();
  }
  object["value"] = std::move(value);
  return daemon.call("plugin.set", std::move(object));
}

// A value as it is, for scripts; on a terminal without what could move it.
int print_values(const PluginArguments& arguments, const Value& result) {
  const bool is_shown = sys::stream_kind(1) == sys::StreamKind::kTerminal;
  if (arguments.action == "config set") return 0;
  if (arguments.action == "config get") {
    const std::string value = text_in(result, "value");
    return print(cat({is_shown ? printable(value, kValueBytesMax) : value, "\n"}));
  }
  std::vector<std::vector<std::string>> rows = {{"KEY", "VALUE"}};
  const Value* member = member_of(result, "values");
  const auto* values = member != nullptr ? member->get<Value::Object>() : nullptr;
  if (values == nullptr || values->empty()) return print("none\n");
  for (const auto& [key, value] : *values) {
    const auto* text = value.get<std::string>();
    rows.push_back({printable(key, kCellBytesMax), text != nullptr ? printable(*text, kCellBytesMax) : ""});
  }
  return print(table(rows));
}

// What a removal left behind, on standard error: the rest is gone. Exit code 1.
int complain_of_left(const Value& removed) {
  int code = 0;
  for (const Value& one : list_in(removed, "left")) {
    code = complain(Error{Code::kConflict, 0,
                          cat({"agent ", text_in(one, "agent"), ": ", printable(text_in(one, "reason"), 400)})});
  }
  return code == 0 ? 0 : 1;
}

std::string sentence(const PluginArguments& arguments, const Value& result) {
  if (arguments.action == "install") {
    std::string text;
    const auto* list = result.get<Value::List>();
    for (const Value& one : list != nullptr ? *list : Value::List()) {
      const std::string tools = joined(one, "tools");
      text += cat({"installed ", text_in(one, "id"), " for agent ", text_in(one, "agent"),
                   tools.empty() ? "" : cat({", with ", tools}), "\n"});
    }
    return text;
  }
  const std::string agents = joined(result, "agents");
  const std::string of = agents.empty() ? "" : cat({", for ", agents});
  if (arguments.action == "remove") {
    return cat({"removed ", text_in(result, "id"), truth_in(result, "library") ? " from the library" : "", of, "\n"});
  }
  return cat({text_in(result, "id"), ", number ", std::to_string(number_in(result, "number")), of, "\n"});
}

std::string trial_text(const Value& told) {
  std::string text = cat({"plugin ", text_in(told, "id"), ", \"", printable(text_in(told, "name")), "\"\n"});
  for (const Value& note : list_in(told, "notes")) {
    if (const auto* line = note.get<std::string>()) text += cat({"note: ", printable(*line, 400), "\n"});
  }
  const auto add_lines = [&](const std::string& said) {
    for (const std::string_view line : split(said, '\n')) {
      if (!line.empty()) text += cat({"  ", printable(line, 400), "\n"});
    }
  };
  for (const Value& step : list_in(told, "steps")) {
    text += cat({"step ", text_in(step, "step"), truth_in(step, "ok") ? ": ok\n" : ": failed\n"});
    add_lines(text_in(step, "log"));
  }
  for (const Value& tool : list_in(told, "tools")) {
    const std::string message = text_in(tool, "message");
    text += cat({"tool ", text_in(tool, "name"), truth_in(tool, "ok") ? ": ok" : ": failed",
                 message.empty() ? "" : ", ", printable(message, 400), "\n"});
    add_lines(text_in(tool, "stdout"));
    add_lines(text_in(tool, "stderr"));
  }
  return text;
}

// Exit code 1 where something of it failed.
int try_out(client::DaemonClient& daemon, const PluginArguments& arguments) {
  const auto told = with_source(daemon, arguments);
  if (!told) return complain(told.error());
  const bool is_text = arguments.form == service::OutputForm::kText;
  const int printed = print(is_text ? trial_text(*told) : tool::json_text(*told) + "\n");
  return printed != 0 || truth_in(*told, "ok") ? printed : 1;
}

// Of a recipe alone: no daemon is asked.
int check_recipe(const PluginArguments& arguments) {
  const auto dirs = own_dirs();
  if (!dirs) return complain(dirs.error());
  const auto fetched = service::fetch_recipe(arguments.source, *dirs);
  if (!fetched) return complain(fetched.error());
  const auto recipe = plugin::parse_recipe(fetched->json);
  if (!recipe) return complain(Error(recipe.error()).with_context(printable(arguments.source)));
  Value::List tools;
  std::string text = cat({"plugin ", recipe->id, ", \"", printable(recipe->name), "\"\n"});
  for (const plugin::Tool& one : recipe->tools) {
    tools.emplace_back(cat({recipe->id, "_", one.id}));
    text += cat({"tool ", recipe->id, "_", one.id, "\n"});
  }
  for (const std::string& line : recipe->notes) text += cat({"note: ", line, "\n"});
  if (arguments.form == service::OutputForm::kText) return print(text);
  return print(
      tool::json_text(Value(Value::Object{{"id", recipe->id},
                                          {"name", recipe->name},
                                          {"hash", plugin::content_hash(*recipe)},
                                          {"tools", std::move(tools)},
                                          {"notes", Value::List(recipe->notes.begin(), recipe->notes.end())}})) +
      "\n");
}

int print_skills(const Value& skills, const SkillArguments& arguments) {
  const auto* list = skills.get<Value::List>();
  std::vector<std::vector<std::string>> rows = {{"SKILL", "STATE", "WHAT"}};
  for (const Value& one : list != nullptr ? *list : Value::List()) {
    const bool wanted = text_in(one, "id") == arguments.name || text_in(one, "title") == arguments.name;
    if (arguments.action == "show" && wanted) return print(text_in(one, "text"));
    rows.push_back({text_in(one, "id"), truth_in(one, "enabled") ? "enabled" : "disabled", text_in(one, "summary")});
  }
  if (arguments.action == "list") return print(table(rows));
  return complain(
      Error::not_found(cat({"there is no skill ", printable(arguments.name, 64), ": hutch skill list shows them"})));
}

}  // namespace

int plugin(const PluginArguments& arguments) {
  if (arguments.action == "check" && arguments.second == kReadOnly) return check_recipe(arguments);
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  if (arguments.action == "check") return try_out(*daemon, arguments);
  const bool is_values = arguments.action.starts_with("config ");
  const auto result = is_values ? values(*daemon, arguments) : call_plugin(*daemon, arguments);
  if (!result) return complain(result.error());
  if (arguments.action == "export") return print(text_in(*result, "recipe"));
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (is_values) return print_values(arguments, *result);
  if (arguments.action == "show") return print_plugin(*result);
  if (arguments.action != "list") {
    const int printed = print(sentence(arguments, *result));
    return printed != 0 ? printed : complain_of_left(*result);
  }
  return arguments.library || arguments.only_new ? print_library(*result) : print_installs(*result);
}

int skill(const SkillArguments& arguments) {
  auto daemon = own_daemon();
  if (!daemon) return complain(daemon.error());
  const bool switches = arguments.action == "enable" || arguments.action == "disable";
  const auto result =
      switches ? daemon->call("skill.switch", {{"name", arguments.name}, {"on", arguments.action == "enable"}})
               : daemon->call("skill.list", {});
  if (!result) return complain(result.error());
  if (arguments.form == service::OutputForm::kJson) return print(tool::json_text(*result) + "\n");
  if (!switches) return print_skills(*result, arguments);
  return print(cat({text_in(*result, "id"), truth_in(*result, "enabled") ? " is enabled\n" : " is disabled\n"}));
}

}  // namespace hutch::cli

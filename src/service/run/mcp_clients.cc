// Files of the clients of MCP, as their manuals have them.
#include "service/run/mcp_clients.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "base/json.h"
#include "base/text.h"

namespace hutch::service {

namespace {

using ordered_json = nlohmann::ordered_json;
using Form = McpClient::Form;

constexpr std::string_view kServerName = "hutch";
constexpr std::string_view kTomlTable = "mcp_servers";

Result<ordered_json> parsed_config(std::string_view text);
bool has_double_key(std::string_view text);
Result<ordered_json*> servers_in(ordered_json& root, const McpClient& client);
void set_entry(ordered_json& server, Form form, const McpEntry& entry);
std::string json_text(const ordered_json& root, std::string_view like);
std::vector<std::string> arguments_of(const McpEntry& entry);
Result<toml::table> toml_of(std::string_view text);
std::string toml_entry(const McpEntry& entry);
std::string toml_values(const McpEntry& entry);
bool says(const toml::table& root, const McpEntry& entry);
const toml::table* toml_server(const toml::table& root);
std::vector<std::string_view> lines_of(std::string_view text);
Result<std::string> with_toml_entry(std::string_view text, const McpEntry& entry);
Result<std::string> without_toml_entry(std::string_view text);
bool is_header_of_ours(std::string_view line);

}  // namespace

std::span<const McpClient> mcp_clients() {
  using enum McpClient::Start;
  static constexpr std::array<McpClient, 10> kClients = {
      McpClient{"claude-code", "Claude Code", Form::kStdio, "mcpServers", ".claude.json", ".mcp.json",
                "CLAUDE_CONFIG_DIR"},
      McpClient{"claude-desktop", "Claude Desktop", Form::kCommand, "mcpServers",
                ".config/Claude/claude_desktop_config.json", "", "", kAnywhere},
      McpClient{"cline", "Cline", Form::kCommand, "mcpServers",
                ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", "", "",
                kAnywhere},
      McpClient{"codex", "Codex", Form::kToml, kTomlTable, ".codex/config.toml", ".codex/config.toml", "CODEX_HOME"},
      McpClient{"cursor", "Cursor", Form::kCommand, "mcpServers", ".cursor/mcp.json", ".cursor/mcp.json"},
      McpClient{"gemini", "Gemini CLI", Form::kCommand, "mcpServers", ".gemini/settings.json", ".gemini/settings.json"},
      McpClient{"opencode", "opencode", Form::kList, "mcp", ".config/opencode/opencode.json", "opencode.json"},
      McpClient{"vscode", "Visual Studio Code", Form::kStdio, "servers", ".config/Code/User/mcp.json",
                ".vscode/mcp.json"},
      McpClient{"windsurf", "Windsurf", Form::kCommand, "mcpServers", ".codeium/windsurf/mcp_config.json", "", "",
                kAnywhere},
      McpClient{"zed", "Zed", Form::kCommand, "context_servers", ".config/zed/settings.json", ".zed/settings.json"},
  };
  return kClients;
}

const McpClient* find_mcp_client(std::string_view name) {
  const auto found = std::ranges::find(mcp_clients(), name, &McpClient::name);
  return found == mcp_clients().end() ? nullptr : &*found;
}

Result<std::string> mcp_file_of(const McpClient& client, McpScope scope, std::string_view home,
                                std::string_view project, const Variable& variable) {
  if (scope == McpScope::kProject) {
    if (!client.project_file.empty()) return cat({project, "/", client.project_file});
    return fail(Error::invalid(cat({client.about, " has no file of a project's: leave --project out"})));
  }
  const auto set = client.base.empty() ? std::nullopt : variable(client.base);
  if (!set || !set->starts_with('/')) return cat({home, "/", client.user_file});
  const std::size_t slash = client.user_file.find('/');
  const std::string_view file = slash == std::string_view::npos ? client.user_file : client.user_file.substr(slash + 1);
  return cat({*set, "/", file});
}

Result<std::string> shown_mcp_entry(const McpClient& client, std::string_view text) {
  if (!TRY(has_mcp_entry(client, text))) return std::string();
  if (client.form == Form::kToml) {
    const toml::table root = TRY(toml_of(text));
    std::ostringstream out;
    out << toml::table{{kTomlTable, toml::table{{kServerName, *toml_server(root)}}}} << "\n";
    return out.str();
  }
  ordered_json root = TRY(parsed_config(text));
  ordered_json shown = ordered_json::object();
  shown[std::string(client.key)][std::string(kServerName)] =
      std::move(root[std::string(client.key)][std::string(kServerName)]);
  return json_text(shown, "");
}

Result<std::string> with_mcp_entry(const McpClient& client, std::string_view text, const McpEntry& entry) {
  if (client.form == Form::kToml) return with_toml_entry(text, entry);
  ordered_json root = TRY(parsed_config(text));
  const ordered_json before = root;
  ordered_json* servers = TRY(servers_in(root, client));
  ordered_json& server = (*servers)[std::string(kServerName)];
  if (!server.is_object()) server = ordered_json::object();
  set_entry(server, client.form, entry);
  return root == before ? std::string(text) : json_text(root, text);
}

Result<std::string> without_mcp_entry(const McpClient& client, std::string_view text) {
  if (client.form == Form::kToml) return without_toml_entry(text);
  if (!TRY(has_mcp_entry(client, text))) return std::string(text);
  ordered_json root = TRY(parsed_config(text));
  ordered_json* servers = TRY(servers_in(root, client));
  servers->erase(std::string(kServerName));
  return json_text(root, text);
}

Result<bool> has_mcp_entry(const McpClient& client, std::string_view text) {
  if (client.form == Form::kToml) return toml_server(TRY(toml_of(text))) != nullptr;
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  // To look is no reason to refuse comments.
  const ordered_json root =
      std::ranges::all_of(text, blank) ? ordered_json::object() : ordered_json::parse(text, nullptr, false, true);
  if (root.is_discarded()) return fail(Error::invalid("it is no JSON"));
  if (!root.is_object()) return false;
  const auto servers = root.find(std::string(client.key));
  return servers != root.end() && servers->is_object() && servers->contains(std::string(kServerName));
}

namespace {

Result<ordered_json> parsed_config(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  if (text.find_first_not_of(kBlank) == std::string_view::npos) return ordered_json::object();
  ordered_json root = parse_ordered_json(text);
  if (root.is_discarded() && !ordered_json::parse(text, nullptr, false, true).is_discarded()) {
    return fail(Error::unsupported("it has comments, which would be lost; write the entry yourself"));
  }
  if (root.is_discarded()) return fail(Error::invalid("it is no JSON"));
  if (!root.is_object()) return fail(Error::invalid("it is no JSON object"));
  if (!has_double_key(text)) return root;
  return fail(Error::unsupported("an object in it has a key twice, and one would be lost; write the entry yourself"));
}

// Of which a parsed text has the last alone.
bool has_double_key(std::string_view text) {
  std::vector<std::set<std::string>> open;
  bool found = false;
  const auto look = [&](int, ordered_json::parse_event_t event, ordered_json& parsed) {
    if (event == ordered_json::parse_event_t::object_start) open.emplace_back();
    if (event == ordered_json::parse_event_t::object_end) open.pop_back();
    if (event == ordered_json::parse_event_t::key) found |= !open.back().insert(parsed.get<std::string>()).second;
    return true;
  };
  return !ordered_json::parse(text, look, false).is_discarded() && found;
}

Result<ordered_json*> servers_in(ordered_json& root, const McpClient& client) {
  ordered_json& servers = root[std::string(client.key)];
  if (servers.is_null()) servers = ordered_json::object();
  if (servers.is_object()) return &servers;
  return fail(Error::invalid(cat({"\"", client.key, "\" in it is no object"})));
}

// What a person has set besides (variables, a time limit) stays.
void set_entry(ordered_json& server, Form form, const McpEntry& entry) {
  const std::vector<std::string> arguments = arguments_of(entry);
  if (form != Form::kList) {
    if (form == Form::kStdio) server["type"] = "stdio";
    server["command"] = entry.program;
    server["args"] = arguments;
    return;
  }
  std::vector<std::string> command = {entry.program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  server["type"] = "local";
  server["command"] = command;
  if (!server.contains("enabled")) server["enabled"] = true;
}

// Indented as the file was.
std::string json_text(const ordered_json& root, std::string_view like) {
  int width = 2;
  char with = ' ';
  const std::size_t line = like.find('\n');
  if (line != std::string_view::npos && line + 1 < like.size()) {
    const std::string_view second = like.substr(line + 1);
    const std::size_t blanks = std::min(second.find_first_not_of(" \t"), second.size());
    if (blanks > 0 && blanks <= 8) {
      width = static_cast<int>(blanks);
      with = second.front();
    }
  }
  return root.dump(width, with, false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> arguments_of(const McpEntry& entry) {
  std::vector<std::string> arguments = {"mcp"};
  if (!entry.agent.empty()) arguments.insert(arguments.end(), {"--agent", entry.agent});
  return arguments;
}

Result<toml::table> toml_of(std::string_view text) {
  toml::parse_result read = toml::parse(text);
  if (read) return std::move(read).table();
  const toml::parse_error& error = read.error();
  return fail(Error::invalid(
      cat({"it is no TOML: line ", std::to_string(error.source().begin.line), ": ", printable(error.description())})));
}

std::string toml_entry(const McpEntry& entry) {
  return cat({"[", kTomlTable, ".", kServerName, "]\n", toml_values(entry)});
}

std::string toml_values(const McpEntry& entry) {
  // A basic string of TOML takes what one of JSON does.
  const auto quoted = [](const std::string& text) {
    return ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  };
  std::string arguments;
  for (const std::string& argument : arguments_of(entry)) {
    arguments += cat({arguments.empty() ? "" : ", ", quoted(argument)});
  }
  return cat({"command = ", quoted(entry.program), "\nargs = [", arguments, "]\n"});
}

bool says(const toml::table& root, const McpEntry& entry) {
  const toml::table* server = toml_server(root);
  if (server == nullptr) return false;
  const toml::array* found = (*server)["args"].as_array();
  const std::vector<std::string> arguments = arguments_of(entry);
  return (*server)["command"].value<std::string>() == entry.program && found != nullptr &&
         std::ranges::equal(*found, arguments, [](const toml::node& node, const std::string& argument) {
           return node.value<std::string>() == argument;
         });
}

const toml::table* toml_server(const toml::table& root) { return root[kTomlTable][kServerName].as_table(); }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

// By lines, so that comments stay, and all that the table says besides. Whether those were the right ones is for the
// reader of TOML to say: all else has to be what it was.
Result<std::string> with_toml_entry(std::string_view text, const McpEntry& entry) {
  const toml::table before = TRY(toml_of(text));
  if (says(before, entry)) return std::string(text);
  const toml::table* server = toml_server(before);
  std::set<std::size_t> replaced;  // counted from 1
  for (const std::string_view key : {"command", "args"}) {
    const toml::node* value = server == nullptr ? nullptr : server->get(key);
    if (value == nullptr) continue;
    for (std::size_t i = value->source().begin.line; i <= value->source().end.line; ++i) replaced.insert(i);
  }
  std::string edited;
  bool written = false;
  for (std::size_t number = 0; const std::string_view line : lines_of(text)) {
    ++number;
    if (!replaced.contains(number)) edited += line;
    const bool begins =
        server != nullptr && !written && line.starts_with(cat({"[", kTomlTable, ".", kServerName, "]"}));
    if (!begins) continue;
    edited += cat({line.ends_with('\n') ? "" : "\n", toml_values(entry)});
    written = true;
  }
  if (!written) {
    if (!edited.empty() && !edited.ends_with('\n')) edited += '\n';
    edited += cat({edited.empty() ? "" : "\n", toml_entry(entry)});
  }
  toml::table after = TRY(toml_of(edited));
  if (!says(after, entry)) return fail(Error::invalid("its tables cannot be added to; write the entry yourself"));
  toml::table rest = before;
  for (toml::table* root : {&rest, &after}) {
    toml::table* servers = (*root)[kTomlTable].as_table();
    toml::table* ours = servers == nullptr ? nullptr : (*servers)[kServerName].as_table();
    if (ours == nullptr) continue;
    ours->erase("command");
    ours->erase("args");
    if (server == nullptr) servers->erase(kServerName);
  }
  if (!rest.contains(kTomlTable) && after[kTomlTable].as_table()->empty()) after.erase(kTomlTable);
  if (rest == after) return edited;
  return fail(
      Error::unsupported(cat({"it has ", kTomlTable, ".", kServerName, " in another form; change it yourself"})));
}

// A comment after it may be about the table that follows.
Result<std::string> without_toml_entry(std::string_view text) {
  toml::table expected = TRY(toml_of(text));
  if (toml_server(expected) == nullptr) return std::string(text);
  expected[kTomlTable].as_table()->erase(kServerName);
  std::string kept;
  std::string comments;
  bool ours = false;
  for (const std::string_view line : lines_of(text)) {
    const bool header = line.starts_with('[');
    if (header) ours = is_header_of_ours(line);
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    const bool blank = first == std::string_view::npos;
    if (ours && !blank && line[first] != '#') comments.clear();
    if (ours && !header && (blank ? !comments.empty() : line[first] == '#')) comments += line;
    if (ours) continue;
    kept += cat({comments, line});
    comments.clear();
  }
  kept += comments;
  toml::table read = TRY(toml_of(kept));
  // The last server of all takes the table of servers along.
  if (!read.contains(kTomlTable) && expected[kTomlTable].as_table()->empty()) expected.erase(kTomlTable);
  if (read == expected) return kept;
  return fail(
      Error::unsupported(cat({"it has ", kTomlTable, ".", kServerName, " in another form; change it yourself"})));
}

bool is_header_of_ours(std::string_view line) {
  const std::string table = cat({"[", kTomlTable, ".", kServerName});
  return line.starts_with(cat({table, "]"})) || line.starts_with(cat({table, "."}));
}

}  // namespace

}  // namespace hutch::service

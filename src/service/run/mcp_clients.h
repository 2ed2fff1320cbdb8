// Programs that speak the Model Context Protocol, and the entry for hutch in a file of theirs. Pure: texts in, texts
// out.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::service {

enum class McpScope { kUser, kProject };

struct McpClient {
  // How its file names servers.
  enum class Form {
    kCommand,  // {"command": "hutch", "args": ["mcp"]}
    kStdio,    // the same with "type": "stdio"
    kList,     // {"type": "local", "command": ["hutch", "mcp"], "enabled": true}
    kToml,     // [mcp_servers.hutch] with command and args
  };
  // Whether it starts servers in the directory of the project, by which hutch knows the agent.
  enum class Start { kInProject, kAnywhere };

  std::string_view name;
  std::string_view about;
  Form form = Form::kCommand;
  std::string_view key;           // of the servers in its file
  std::string_view user_file;     // below the home; a variable of `base` replaces its first directory
  std::string_view project_file;  // below the project; empty where it has none
  std::string_view base{};        // the variable that says where its own directory is
  Start start = Start::kInProject;
};

std::span<const McpClient> mcp_clients();

// Null where there is none of that name.
const McpClient* find_mcp_client(std::string_view name);

using Variable = std::function<std::optional<std::string>(std::string_view name)>;
// Absolute. An error where it has no file of its own for projects.
Result<std::string> mcp_file_of(const McpClient& client, McpScope scope, std::string_view home,
                                std::string_view project, const Variable& variable);

// What the client is to start.
struct McpEntry {
  std::string program;  // "hutch", or an absolute path
  std::string agent;    // empty: the one of the directory that it is started in
};

// The entry that `text` has, with all that it says besides: somebody else may have written that, a sandbox in a
// project. Empty where there is none.
Result<std::string> shown_mcp_entry(const McpClient& client, std::string_view text);

// The file with the entry, which takes the place of one of that name; other keys of that one stay. All else stays as it
// is, in its order. Equal to `text` where it says that already. Errors: what is no such file, and one with comments, of
// which a rewritten one would have none, or in JSON a key twice.
Result<std::string> with_mcp_entry(const McpClient& client, std::string_view text, const McpEntry& entry);

// The file without it; equal to `text` where it has none.
Result<std::string> without_mcp_entry(const McpClient& client, std::string_view text);

Result<bool> has_mcp_entry(const McpClient& client, std::string_view text);

}  // namespace hutch::service

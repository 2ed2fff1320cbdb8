// hutch paths.
#include "cli/machine/paths.h"

#include "base/text.h"
#include "cli/terminal/output.h"
#include "cli/terminal/own_daemon.h"
#include "host/daemon_paths.h"

namespace hutch::cli {

namespace {

struct Row {
  std::string_view name;
  std::string path;
  std::string_view what;
};

std::vector<Row> rows_of(const host::StateDirs& dirs) {
  return {{"default", cat({dirs.config, "/default.json"}), "the policy where none is named"},
          {"projects", cat({dirs.config, "/projects.json"}), "policies of projects"},
          {"settings", cat({dirs.config, "/config.json"}), "what is set besides policies"},
          {"vm settings", cat({dirs.config, "/sandbox.json"}), "what is set of virtual machines"},
          {"users", cat({dirs.config, "/sandbox-agent-map.json"}), "which agent an OS user is"},
          {"homes", cat({dirs.data, "/workspace/agents"}), "an agent's home, by its name"},
          {"shared", cat({dirs.data, "/workspace/shared"}), "what all agents share"},
          {"output", cat({dirs.data, "/output"}), "what an agent hands out, by its name"},
          {"database", cat({dirs.data, "/hutch.db"}), "the agents' records"},
          {"secrets", cat({dirs.data, "/secrets"}), "the agents' secrets, sealed, and the key of them"},
          {"images", cat({dirs.data, "/images"}), "root file systems, by name"},
          {"containers", cat({dirs.data, "/containers"}), "containers of an engine that run, by name"},
          {"vm", cat({dirs.data, "/vm"}), "a virtual machine's kernel and root"},
          {"plugins", cat({dirs.data, "/plugins"}), "plugins, by their ids"},
          {"installed", cat({dirs.data, "/agents/NAME/plugins"}), "the plugins of agent NAME, by their ids"},
          {"spool", cat({dirs.data, "/spool.jsonl"}), "what happened"},
          {"daemon log", cat({dirs.data, "/daemon.log"}), "what the daemon said"},
          {"socket", host::daemon_socket(dirs), "where the daemon is reached"},
          {"runs", host::runs_directory(dirs), "the sockets of what hutch run runs"},
          {"lock", host::daemon_lock(dirs), "held by the daemon"}};
}

}  // namespace

int paths(const PathsArguments& arguments) {
  const auto dirs = own_dirs();
  if (!dirs) return complain(dirs.error());
  std::vector<std::vector<std::string>> rows;
  tool::Value::Object object;
  for (const Row& row : rows_of(*dirs)) {
    rows.push_back({std::string(row.name), printable(row.path), std::string(row.what)});
    object[std::string(row.name)] = row.path;
  }
  if (arguments.form == service::OutputForm::kJson)
    return print(tool::json_text(tool::Value(std::move(object))) + "\n");
  return print(table(rows));
}

}  // namespace hutch::cli

// The one table of tools: what they are called, what they take, who may call them, what they do.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "secret/scrubber.h"
#include "tool/arguments.h"
#include "tool/envelope.h"
#include "tool/limiters.h"
#include "tool/place.h"
#include "tool/schema.h"
#include "tool/settings.h"

namespace hutch::tool {

// Whose success is a new artifact.
inline constexpr std::string_view kShareArtifact = "share_artifact";

enum class Class { kReadOnly, kWrite, kExec };

// What the agent's own coding agent is told to do, and what came of it.
struct TaskWish {
  std::string text;
  std::optional<std::chrono::seconds> timeout{};
};
struct TaskEnd {
  std::string id;
  CommandEnd command{};
  std::chrono::seconds timeout{0};  // that it had
  Value::Object files{};            // files_changed, files_changed_count, files_truncated
};

// A secret that the agent is to have.
struct SecretWish {
  std::string key;
  std::string description;
  std::string instructions;
  std::string value{};  // empty: its person is asked, and the model never sees it
};
enum class SecretAnswer { kStored, kCancelled, kNobody, kTimeout };

// What share_artifact has handed out, as it was then.
struct SharedFile {
  std::string name;
  std::uint64_t size = 0;
  std::string sha256;  // in hexadecimal
  std::string type;
  std::string description;
};

struct CallContext {
  Place& place;
  const AgentSettings& settings;
  Limiters& limiters;
  std::string turn{};  // as the client names it; empty: it does not
  std::function<TimePoint()> now = std::chrono::steady_clock::now;
  // What a command says while it runs, for progress.
  std::function<void(Stream, std::string_view)> on_output{};
  std::chrono::seconds install_timeout{120};  // of a package manager
  // A cancelled call: its processes are ended.
  std::stop_token stop{};
  // Takes the agent's secrets out of what is shown; null: it can have none.
  const secret::Scrubber* scrubber = nullptr;
  // Waits for its end. Code::kUnsupported where no coding agent is configured; null: there are no tasks.
  std::function<Result<TaskEnd>(const TaskWish&)> run_task{};
  // How a command uses that secret of the agent's, a sentence; absent: there is none of the name. Null: it can have
  // none.
  std::function<Result<std::optional<std::string>>(const std::string& key)> use_of_secret{};
  std::function<Result<SecretAnswer>(const SecretWish&)> set_secret{};
  // A file is shared: written down with its hash; null: nowhere.
  std::function<Status(const SharedFile&)> record_artifact{};
  // The plugin in ~/plugins/ID becomes one of the agent's; null: there are none.
  std::function<Envelope(const std::string& id)> register_plugin{};
};

struct Call {
  const Arguments& arguments;
  CallContext& context;
};

using Handler = Envelope (*)(const Call& call);

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view description;  // for a model
  Class kind = Class::kReadOnly;
  std::vector<Parameter> parameters;
  std::vector<Field> results;
  Handler handler = nullptr;
};

// Hints of MCP.
struct Annotations {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

std::span<const Tool> all_tools();
const Tool* find_tool(std::string_view name);

// Those that this agent may call: read-only ones always, others with autonomousExec.enabled, sandbox_plugin_register
// with pluginCreate as well.
std::vector<const Tool*> offered_tools(const AgentSettings& settings);

std::string_view name_of(Class kind);  // "read-only", "write", "exec"
Annotations annotations(Class kind);

// The whole call: is there such a tool, may this agent call it, are the arguments right; then what it does. The
// envelope names the tool.
Envelope call_tool(std::string_view name, std::string_view arguments_json, CallContext& context);

}  // namespace hutch::tool

// A plugin's recipe: what is installed for an agent, and the tools that it brings. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hutch::plugin {

inline constexpr std::size_t kRecipeBytesMax = 4 << 20;
inline constexpr std::size_t kIdBytesMax = 40;
inline constexpr std::size_t kToolNameBytesMax = 64;  // {pluginId}_{toolId}: what models' interfaces take
inline constexpr std::size_t kNameBytesMax = 100;
inline constexpr std::size_t kTextBytesMax = 4096;      // of a description
inline constexpr std::size_t kCommandBytesMax = 64 << 10;  // setup, run
inline constexpr std::size_t kFilesMax = 500;
inline constexpr std::size_t kFileBytesMax = 1 << 20;
inline constexpr std::size_t kFilePathBytesMax = 512;
inline constexpr std::size_t kFileDepthMax = 16;
inline constexpr std::size_t kToolsMax = 64;
inline constexpr std::size_t kParametersMax = 64;
inline constexpr std::size_t kListMax = 100;  // of names of any kind
inline constexpr std::size_t kEventBytesMax = 128;  // of an event's type
inline constexpr std::chrono::seconds kToolTimeoutMax{300};

enum class Kind { kString, kInteger, kNumber, kBoolean, kArray, kObject };
std::string_view name_of(Kind kind);

struct Parameter {
  std::string name;
  Kind kind = Kind::kString;
  std::string description{};
  std::optional<std::string> fallback{};  // as the variable has it; absent: the parameter is required
  std::vector<std::string> choices{};     // of texts
};
// PARAM_OUTPUT_FORMAT of "output_format".
std::string variable_of(std::string_view parameter);

struct Tool {
  std::string id;
  std::string description;
  std::string run;
  std::vector<Parameter> parameters{};
  std::optional<std::chrono::seconds> timeout{};
  std::optional<std::string> example{};  // arguments, as JSON
};

// What its processes may reach, of what their agent may.
struct NetworkPermission {
  enum class Kind {
    kOfAgent,  // nothing is said, or "outbound": what the agent may
    kNone,
    kHosts,
  } kind = Kind::kOfAgent;
  std::vector<std::string> hosts{};  // of kHosts: lower-case names
  bool operator==(const NetworkPermission&) const = default;
};

// Events of its agent's: those that it tells, and those of which it hears by a tool of its own.
struct Events {
  std::vector<std::string> subscribe{};  // types
  std::vector<std::string> emit{};
  std::string tool{};  // `onEvent`: the id; empty: it hears of none
};

struct Recipe {
  std::string id;    // the name's, unless it says its own
  std::string name;
  std::string description;
  std::string version{};
  std::string author{};
  std::string source{};
  // By manager: "apk", "apt", "dnf"; a plain list is Alpine's names.
  std::map<std::string, std::vector<std::string>> dependencies{};
  bool is_plain_list = false;
  std::string setup{};
  std::map<std::string, std::string> files{};  // relative paths
  std::vector<Tool> tools{};
  std::vector<std::string> secrets{};
  NetworkPermission network{};
  bool inference = false;
  Events events{};
  std::vector<std::string> needs{};
  std::string created_by{};  // metadata: "agent" of one that an agent made
  std::vector<std::string> notes{};  // what it has that is kept and means nothing here
  std::string json;  // the whole, one line, keys in their order, unknown ones as well
};

// Strict about what it knows; what it does not know is kept.
Result<Recipe> parse_recipe(std::string_view json);

// For a person to read and to share.
std::string exported(const Recipe& recipe);
// SHA-256 of what it means: the order of keys and `modifiedAt` count for nothing.
std::string content_hash(const Recipe& recipe);

// The same recipe under another name, without an id of its own.
Result<Recipe> renamed(const Recipe& recipe, std::string_view name);
// With these files beside its own, which win.
Result<Recipe> with_files(const Recipe& recipe, const std::map<std::string, std::string>& files);
// As an agent's own: no wildcard of the network, no inference, and who made it. `via` is agent_tool or host_bridge.
Result<Recipe> restricted(const Recipe& recipe, std::string_view via);

// What its name makes of it: lower case, with "-" for blanks. An error where that is no id.
Result<std::string> id_of(std::string_view name);
Status check_id(std::string_view id);
Status check_file_path(std::string_view path);
// "csv.ready": letters, digits and . _ : - alone.
bool is_event_type(std::string_view type);

}  // namespace hutch::plugin

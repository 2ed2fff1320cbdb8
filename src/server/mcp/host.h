// What the MCP server serves: tools to call, and the files that were shared.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hutch::server::mcp {

struct ToolInfo {
  std::string name;
  std::string title;
  std::string description;
  std::string input_schema_json;
  std::string output_schema_json;  // of the whole envelope, of failures too; empty: none
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = true;
};

struct Progress {
  double done = 0;  // more than before
  std::optional<double> total{};
  std::string message{};
};

// The severities of syslog (RFC 5424), lowest first.
enum class LogLevel { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };

// What a call needs to know from whoever uses the client, while it goes on.
struct Inquiry {
  std::string key;  // of nothing else that is asked
  std::string message;
  std::vector<std::string> choices;
  std::function<void(const std::string& choice)> on_answer;  // once, if at all, by any thread
  std::string url{};  // a page to open instead, where it is answered: on_answer hears kDeclined, or nothing of worth
};
inline constexpr std::string_view kDeclined = "no";

// The first two functions are always there and may be called by any thread until the call returns; what the client did
// not ask for is dropped.
struct CallOptions {
  std::string turn;  // `_meta["hutch/turn"]`; empty: the client tells none
  std::function<void(const Progress&)> on_progress;
  std::function<void(LogLevel, std::string_view)> on_log;
  std::stop_token cancelled;  // nobody waits for the answer any more
  // Puts it to whoever uses the client; absent where the client cannot. Takes it back where it was answered elsewhere.
  // By any thread until the call returns.
  std::function<void(const Inquiry&)> inquire{};
  std::function<void(const std::string& key)> withdraw{};
  // The same for a page, and that it was answered there; absent where the client opens none.
  std::function<void(const Inquiry&)> show{};
  std::function<void(const std::string& key)> shown{};
};

struct CallAnswer {
  std::string envelope_json;  // an object
  bool is_error = false;
};

struct Artifact {
  std::string uri;
  std::string name;
  std::string mime;
  std::uint64_t size = 0;
};

struct ArtifactContent {
  std::string mime;
  std::string bytes;
};

// A text that tells a model how to do something: a prompt, and a resource.
struct Guide {
  std::string uri;
  std::string name;
  std::string title;
  std::string description;
  std::string text;  // Markdown
};

// Called by several threads at once.
class ToolHost {
 public:
  virtual ~ToolHost() = default;
  // In a fixed order. Does not wait for anything.
  virtual std::vector<ToolInfo> list() = 0;
  // A tool's own failure is an envelope; an error is of the request: Code::kNotFound where there is no such tool,
  // Code::kInvalidArgument, or a failure of the server.
  virtual Result<CallAnswer> call(const std::string& name, const std::string& arguments_json,
                                  const CallOptions& options) = 0;
  virtual Result<std::vector<Artifact>> artifacts() = 0;
  virtual Result<ArtifactContent> read_artifact(const std::string& uri) = 0;  // Code::kNotFound
  // Those that may be followed here. Does not wait for anything.
  virtual std::vector<Guide> guides() { return {}; }
};

}  // namespace hutch::server::mcp

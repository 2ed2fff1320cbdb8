// A JSON-RPC message from an MCP client, as far as the server reads one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hutch::server::mcp {

// Newest first. What `initialize` can agree on, and what each request can say of itself.
inline constexpr std::array<std::string_view, 3> kLegacyVersions = {"2025-11-25", "2025-06-18", "2025-03-26"};
inline bool is_legacy(std::string_view version) {
  return std::ranges::find(kLegacyVersions, version) != kLegacyVersions.end();
}
inline constexpr std::string_view kModernVersion = "2026-07-28";

inline constexpr std::size_t kMessageBytesMax = 8 << 20;  // 4 MiB of a file, escaped
inline constexpr std::size_t kBatchItemsMax = 100;

namespace code {
inline constexpr int kParse = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternal = -32603;
inline constexpr int kLegacyResourceNotFound = -32002;  // up to 2025-11-25
inline constexpr int kHeaderMismatch = -32020;          // from 2026-07-28 on, as the next
inline constexpr int kUnsupportedVersion = -32022;
}  // namespace code

struct RpcError {
  int code = code::kInternal;
  std::string message;
  std::string id{};         // JSON text; empty: not known
  std::string data_json{};  // empty: none
};

// What a request says of itself (`params._meta`).
struct Meta {
  std::optional<std::string> version;    // io.modelcontextprotocol/protocolVersion: of 2026-07-28 and later alone
  bool has_capabilities = false;         // io.modelcontextprotocol/clientCapabilities
  bool elicits = false;                  // with elicitation by a form among them
  bool opens_pages = false;              // likewise by a URL
  std::optional<std::string> log_level;  // io.modelcontextprotocol/logLevel
  std::string progress_token;            // JSON text; empty: none
  std::string turn;                      // hutch/turn
};

// What somebody answered to `elicitation/create`.
struct Elicited {
  std::string action;  // accept, decline, cancel; empty: an error, or none of the protocol's
  std::string choice;  // content.choice
};

struct Incoming {
  enum class Kind { kRequest, kNotification, kResponse };
  Kind kind = Kind::kRequest;
  std::string id;  // of a request, or what a response is to; JSON text
  Elicited elicited;  // of a response
  std::string method;
  Meta meta;
  // Parameters by their names, whatever the method is; of another type than the protocol's they are absent, and `wrong`
  // names the first such.
  std::optional<std::string> name;
  std::string arguments_json = "{}";
  std::optional<std::string> uri;
  std::optional<std::string> level;
  std::optional<std::string> protocol_version;
  bool elicits = false;  // capabilities.elicitation, by a form
  bool opens_pages = false;  // likewise, by a URL
  std::string request_state;
  std::map<std::string, Elicited> input_responses;
  std::string request_id;  // JSON text; empty: none
  bool has_cursor = false;
  bool wants_tools_changed = false;  // notifications.toolsListChanged
  bool wants_resources_changed = false;
  std::string wrong;
};

// A single message. A batch is an error here.
std::variant<Incoming, RpcError> read_message(std::string_view text);

// Whether the text is meant as a batch, and the messages of one; absent where it is none, or has too many.
bool is_batch(std::string_view text);
std::optional<std::vector<std::string>> split_batch(std::string_view text);

}  // namespace hutch::server::mcp

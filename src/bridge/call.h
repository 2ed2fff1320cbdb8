// What can be asked of the host's bridge: an HTTP request becomes a call, or a fault with its status. Pure.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hutch::bridge {

inline constexpr std::size_t kBodyBytesMax = 8 << 20;
inline constexpr std::size_t kBodyValuesMax = 40'000;   // an event's payload has no more
inline constexpr std::size_t kTypeBytesMax = 128;       // of an event
inline constexpr std::size_t kPayloadBytesMax = 64 << 10;
inline constexpr std::size_t kMessageBytesMax = 1024;   // of the log; longer ones are cut
inline constexpr std::size_t kChatMessagesMax = 1000;

enum class Service {
  kSecret,
  kConfigGet,
  kConfigSet,
  kInference,
  kDispatch,
  kMemoryQuery,
  kMemoryStore,
  kEmit,
  kListen,
  kPluginCreate,
  kPluginCheck,
  kLog,
};
// How its uses are counted, and what the record calls it: "secrets", "config", ...
std::string_view name_of(Service service);

struct ChatMessage {
  std::string role;
  std::string content;
};

struct Call {
  Service service = Service::kLog;
  std::string name{};  // of a secret, a key, an event's type; of the log the level; of a dispatch the agent, or empty
  std::string
      text{};  // a value, what is looked for or kept, a task, a message; an event's payload, or a plugin, as JSON
  double salience = -1;  // of what is kept; below 0: not said
  std::vector<std::string> types{};  // of events that are listened for; none: all
  std::string model{};  // empty: the one that is configured
  std::vector<ChatMessage> messages{};  // of a chat
  std::string plugin{};  // of a value: whose it is, as whoever asks says; empty: the agent's
};

struct Fault {
  int status = 400;
  std::string message{};
};

struct Request {
  std::string_view method;
  const std::vector<std::string>& segments;  // of the path, decoded: "api", "secrets", "TOKEN"
  const std::vector<std::string>& types;  // of the query: each `type`
  std::string_view body;
  std::string_view plugin{};  // of the query
};
std::expected<Call, Fault> read_call(const Request& request);

// {"error": "..."}.
std::string fault_json(const Fault& fault);

}  // namespace hutch::bridge

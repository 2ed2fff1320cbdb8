// The routes of the bridge, and what each takes.
#include "bridge/call.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "wire/json_guard.h"

namespace hutch::bridge {

namespace {

using nlohmann::json;
using Read = std::expected<Call, Fault>;

std::unexpected<Fault> fault(int status, std::string message) {
  return std::unexpected(Fault{status, std::move(message)});
}

// Each value has a bracket or a comma before it. A parser takes some seventy bytes for one, and two of text make one.
bool has_too_many_values(std::string_view body) {
  std::size_t values = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_text = !in_text;
    } else if (!in_text && (c == '[' || c == '{' || c == ',') && ++values > kBodyValuesMax) {
      return true;
    }
  }
  return false;
}

// A member that is text; what is of another type counts as absent.
const std::string* text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? found->get_ptr<const std::string*>() : nullptr;
}

Read read_secret(const Request& request) {
  if (request.segments.size() != 3 || request.segments[2].empty())
    return fault(400, "GET /api/secrets/{name} expected");
  if (request.method != "GET") return fault(405, "GET /api/secrets/{name} expected");
  return Call{.service = Service::kSecret, .name = request.segments[2]};
}

Read read_config(const Request& request, const json& body) {
  if (request.segments.size() != 3 || request.segments[2].empty()) return fault(400, "Key required");
  const std::string plugin(request.plugin);
  if (request.method == "GET") {
    return Call{.service = Service::kConfigGet, .name = request.segments[2], .plugin = plugin};
  }
  if (request.method != "POST") return fault(405, "GET or POST expected");
  const std::string* value = text_in(body, "value");
  if (value == nullptr) return fault(400, R"(Body must contain {"value": "..."})");
  return Call{.service = Service::kConfigSet, .name = request.segments[2], .text = *value, .plugin = plugin};
}

Read read_inference(const json& body) {
  Call call{.service = Service::kInference};
  if (const std::string* model = text_in(body, "model"); model != nullptr && *model != "default") call.model = *model;
  const auto messages = body.find("messages");
  if (messages == body.end() || !messages->is_array() || messages->empty() || messages->size() > kChatMessagesMax) {
    return fault(400, "Messages array required");
  }
  for (const json& message : *messages) {
    const std::string* role = message.is_object() ? text_in(message, "role") : nullptr;
    const std::string* content = message.is_object() ? text_in(message, "content") : nullptr;
    if (role == nullptr || content == nullptr) return fault(400, "Messages array required");
    call.messages.push_back({*role, *content});
  }
  return call;
}

Read read_dispatch(const json& body) {
  const std::string* task = text_in(body, "task");
  if (task == nullptr) return fault(400, "Body must contain task");
  if (task->empty()) return fault(400, "task is empty");
  const std::string* agent = text_in(body, "agent_id");
  return Call{.service = Service::kDispatch, .name = agent != nullptr ? *agent : std::string(), .text = *task};
}

Read read_memory(const std::string& action, const json& body) {
  if (action == "query") {
    const std::string* query = text_in(body, "query");
    if (query == nullptr) return fault(400, "Body must contain query");
    return Call{.service = Service::kMemoryQuery, .text = *query};
  }
  if (action != "store") return fault(404, "Not found");
  const std::string* content = text_in(body, "content");
  if (content == nullptr || content->empty()) return fault(400, "Body must contain content");
  Call call{.service = Service::kMemoryStore, .text = *content};
  const auto salience = body.find("salience");
  if (salience == body.end()) return call;
  const double number = salience->is_number() ? salience->get<double>() : -1;
  if (!(number >= 0 && number <= 1)) return fault(400, "salience is a number from 0 to 1");
  call.salience = number;
  return call;
}

Read read_agent(const Request& request, const json& body) {
  const auto& segments = request.segments;
  if (segments.size() == 3 && segments[2] == "dispatch") return read_dispatch(body);
  if (segments.size() == 4 && segments[2] == "memory") return read_memory(segments[3], body);
  return fault(404, "Not found");
}

// As recipes declare them.
bool is_type(const std::string& type) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._:-").contains(c);
  };
  return !type.empty() && type.size() <= kTypeBytesMax && std::ranges::all_of(type, fits);
}

Read read_emit(const json& body) {
  const std::string* type = text_in(body, "type");
  if (type == nullptr) return fault(400, "Body must contain type");
  if (!is_type(*type)) return fault(400, "An event's type is of letters, digits and . _ : -, 128 at most");
  const auto payload = body.find("payload");
  Call call{.service = Service::kEmit, .name = *type, .text = payload != body.end() ? payload->dump() : "{}"};
  // As a text that is JSON, for who has none to write it with.
  if (const std::string* written = text_in(body, "payload_text")) {
    if (!wire::check_json_shape(*written, kPayloadBytesMax)) return fault(400, "payload is no JSON, or too large");
    const json parsed = parse_json(*written);
    if (parsed.is_discarded()) return fault(400, "payload is no JSON");
    call.text = parsed.dump();
  }
  if (call.text.size() > kPayloadBytesMax) return fault(400, "payload is too large");
  return call;
}

Read read_log(const json& body) {
  static constexpr std::array<std::string_view, 5> kLevels = {"debug", "info", "warning", "warn", "error"};
  const std::string* message = text_in(body, "message");
  if (message == nullptr || message->empty()) return fault(400, "Body must contain message");
  const std::string* level = text_in(body, "level");
  const std::string name = level != nullptr ? *level : "info";
  if (std::ranges::find(kLevels, name) == kLevels.end()) return fault(400, "level is debug, info, warning or error");
  return Call{.service = Service::kLog,
              .name = name == "warn" ? "warning" : name,
              .text = message->substr(0, kMessageBytesMax)};
}

Read read_post(const Request& request, const json& body) {
  const std::string& service = request.segments[1];
  const bool is_whole = request.segments.size() == 2;
  const std::string action = request.segments.size() == 3 ? request.segments[2] : std::string();
  if (service == "agent") return read_agent(request, body);
  if (service == "inference" && action == "chat") return read_inference(body);
  if (service == "events" && action == "emit") return read_emit(body);
  if (service == "log" && is_whole) return read_log(body);
  if (service == "plugin" && (action == "create" || action == "check")) {
    const bool creates = action == "create";
    const std::string* id = text_in(body, "plugin_id");
    return Call{.service = creates ? Service::kPluginCreate : Service::kPluginCheck,
                .name = id != nullptr && !creates ? *id : std::string(),
                .text = std::string(request.body)};
  }
  return fault(404, "Not found");
}

}  // namespace

std::string_view name_of(Service service) {
  switch (service) {
    case Service::kSecret: return "secrets";
    case Service::kConfigGet:
    case Service::kConfigSet: return "config";
    case Service::kInference: return "inference";
    case Service::kDispatch: return "dispatch";
    case Service::kMemoryQuery:
    case Service::kMemoryStore: return "memory";
    case Service::kEmit:
    case Service::kListen: return "events";
    case Service::kPluginCreate:
    case Service::kPluginCheck: return "http";
    case Service::kLog: return "log";
  }
  return "log";
}

std::expected<Call, Fault> read_call(const Request& request) {
  static constexpr std::array<std::string_view, 7> kServices = {"secrets", "config", "inference", "agent",
                                                                "events",  "plugin", "log"};
  if (request.segments.size() < 2 || request.segments[0] != "api") return fault(404, "Not found");
  const std::string& service = request.segments[1];
  if (std::ranges::find(kServices, service) == kServices.end()) {
    return fault(404, cat({"Unknown service: ", printable(service, 64)}));
  }
  if (service == "secrets") return read_secret(request);
  if (service == "events" && request.method == "GET") {
    if (request.segments.size() != 3 || request.segments[2] != "listen") return fault(404, "Not found");
    return Call{.service = Service::kListen, .types = request.types};
  }
  if (service == "config" && request.method == "GET") return read_config(request, json::object());
  if (request.method != "POST") return fault(405, "POST expected");
  if (!wire::check_json_shape(request.body, kBodyBytesMax)) return fault(400, "Invalid JSON body");
  if (has_too_many_values(request.body)) {
    return fault(400, cat({"The body has more than ", std::to_string(kBodyValuesMax), " values"}));
  }
  const json body = parse_json(request.body);
  if (!body.is_object()) return fault(400, "Invalid JSON body");
  return service == "config" ? read_config(request, body) : read_post(request, body);
}

std::string fault_json(const Fault& fault) {
  return json{{"error", fault.message}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace hutch::bridge

// A JSON-RPC message from an MCP client.
#include "server/mcp/reader.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "wire/json_guard.h"

namespace hutch::server::mcp {

namespace {

using nlohmann::json;

constexpr std::size_t kIdBytesMax = 1024;
constexpr std::string_view kSpace = " \t\r\n";

// Looks parameters up by name and notes the first of another type than expected.
class Params {
 public:
  Params(const json& object, std::string prefix, std::string& wrong)
      : object_(object), prefix_(std::move(prefix)), wrong_(wrong) {}

  std::optional<std::string> text(const char* name);
  bool flag(const char* name);
  const json* object(const char* name);
  std::string id(const char* name);  // a string or an integer, as JSON text
  bool has(const char* name) const { return object_.contains(name); }

 private:
  const json* find(const char* name) const;
  void note(const char* name) {
    if (wrong_.empty()) wrong_ = cat({prefix_, name});
  }

  const json& object_;
  std::string prefix_;
  std::string& wrong_;
};

std::optional<json> parse(std::string_view text);
std::string id_of_unread(std::string_view text);
bool is_id(const json& value);
RpcError invalid_request(std::string message, std::string id);
void read_params(const json& params, Incoming& message);
void read_meta(Params meta, Meta& into);
bool elicits(const json* capabilities);
bool opens_pages(const json* capabilities);
Elicited read_elicited(const json& result);
void read_responses(const json& responses, Incoming& message);

}  // namespace

std::variant<Incoming, RpcError> read_message(std::string_view text) {
  if (const Status shape = wire::check_json_shape(text, kMessageBytesMax); !shape) {
    return invalid_request(shape.error().message, id_of_unread(text));
  }
  const std::optional<json> whole = parse(text);
  if (!whole) return RpcError{code::kParse, "the message is not JSON"};
  if (!whole->is_object()) return invalid_request("the message is not a JSON object", "");
  const json& object = *whole;
  const bool has_id = object.contains("id");
  const std::string id = has_id && is_id(object["id"]) ? object["id"].dump() : "";
  if (object.value("jsonrpc", json()) != "2.0") return invalid_request("\"jsonrpc\" is not \"2.0\"", id);

  Incoming message;
  if (!object.contains("method")) {
    if (!object.contains("result") && !object.contains("error")) return invalid_request("\"method\" is missing", id);
    message.kind = Incoming::Kind::kResponse;
    message.id = id;
    if (object.contains("result")) message.elicited = read_elicited(object["result"]);
    return message;
  }
  if (!object["method"].is_string()) return invalid_request("\"method\" is not a string", id);
  if (has_id && id.empty()) return invalid_request("\"id\" is neither a string nor an integer", "");
  message.kind = has_id ? Incoming::Kind::kRequest : Incoming::Kind::kNotification;
  message.id = id;
  message.method = object["method"].get<std::string>();
  if (!object.contains("params")) return message;
  if (!object["params"].is_object()) return invalid_request("\"params\" is not an object", id);
  read_params(object["params"], message);
  return message;
}

bool is_batch(std::string_view text) {
  const std::size_t start = text.find_first_not_of(kSpace);
  return start != std::string_view::npos && text[start] == '[';
}

std::optional<std::vector<std::string>> split_batch(std::string_view text) {
  if (!is_batch(text) || !wire::check_json_shape(text, kMessageBytesMax)) return std::nullopt;
  const std::optional<json> whole = parse(text);
  if (!whole || !whole->is_array() || whole->empty() || whole->size() > kBatchItemsMax) return std::nullopt;
  std::vector<std::string> items;
  for (const json& item : *whole) items.push_back(item.dump());
  return items;
}

namespace {

std::optional<json> parse(std::string_view text) {
  json value = parse_json(text);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::size_t end_of_text(std::string_view text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

// The "id" of the outermost object, as JSON text. Whoever asked would wait for an answer without it, though nothing
// else of the message is read.
std::string id_of_unread(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '[') ++depth;
    if ((text[i] == '}' || text[i] == ']') && depth > 0) --depth;
    if (text[i] != '"') continue;
    const std::size_t end = end_of_text(text, i);
    if (end == std::string_view::npos) return "";
    const bool is_it = depth == 1 && text.substr(i, end + 1 - i) == "\"id\"";
    i = end;
    const std::size_t colon = text.find_first_not_of(kSpace, end + 1);
    if (!is_it || colon == std::string_view::npos || text[colon] != ':') continue;
    const std::size_t value = text.find_first_not_of(kSpace, colon + 1);
    if (value == std::string_view::npos) return "";
    const std::size_t last = text[value] == '"' ? end_of_text(text, value) : text.find_first_of(",} \t\r\n", value);
    if (last == std::string_view::npos || last - value > kIdBytesMax) return "";
    const auto id = parse(text.substr(value, last - value + (text[value] == '"' ? 1 : 0)));
    return id && is_id(*id) ? id->dump() : "";
  }
  return "";
}

bool is_id(const json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size() <= kIdBytesMax;
  return value.is_number_integer();
}

RpcError invalid_request(std::string message, std::string id) {
  return {code::kInvalidRequest, std::move(message), std::move(id)};
}

void read_params(const json& params, Incoming& message) {
  Params in(params, "params.", message.wrong);
  if (const json* meta = in.object("_meta")) read_meta(Params(*meta, "params._meta.", message.wrong), message.meta);
  message.name = in.text("name");
  message.uri = in.text("uri");
  message.level = in.text("level");
  message.protocol_version = in.text("protocolVersion");
  message.request_id = in.id("requestId");
  message.has_cursor = in.has("cursor");
  message.elicits = elicits(in.object("capabilities"));
  message.opens_pages = opens_pages(in.object("capabilities"));
  message.request_state = in.text("requestState").value_or("");
  if (const json* responses = in.object("inputResponses")) read_responses(*responses, message);
  if (const json* arguments = in.object("arguments")) message.arguments_json = arguments->dump();
  if (const json* wanted = in.object("notifications")) {
    Params filter(*wanted, "params.notifications.", message.wrong);
    message.wants_tools_changed = filter.flag("toolsListChanged");
    message.wants_resources_changed = filter.flag("resourcesListChanged");
  }
}

void read_meta(Params meta, Meta& into) {
  into.version = meta.text("io.modelcontextprotocol/protocolVersion");
  const json* capabilities = meta.object("io.modelcontextprotocol/clientCapabilities");
  into.has_capabilities = capabilities != nullptr;
  into.elicits = elicits(capabilities);
  into.opens_pages = opens_pages(capabilities);
  into.log_level = meta.text("io.modelcontextprotocol/logLevel");
  into.progress_token = meta.id("progressToken");
  into.turn = meta.text("hutch/turn").value_or("");
}

// An empty object means forms; of a client that names what it has, forms have to be among it.
bool elicits(const json* capabilities) {
  if (capabilities == nullptr) return false;
  const auto found = capabilities->find("elicitation");
  return found != capabilities->end() && found->is_object() && (found->empty() || found->contains("form"));
}

bool opens_pages(const json* capabilities) {
  if (capabilities == nullptr) return false;
  const auto found = capabilities->find("elicitation");
  return found != capabilities->end() && found->is_object() && found->contains("url");
}

Elicited read_elicited(const json& result) {
  Elicited elicited;
  if (!result.is_object()) return elicited;
  const auto text = [](const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  elicited.action = text(result, "action");
  const auto content = result.find("content");
  if (content != result.end() && content->is_object()) elicited.choice = text(*content, "choice");
  return elicited;
}

void read_responses(const json& responses, Incoming& message) {
  constexpr std::size_t kResponsesMax = 64;
  for (const auto& [key, response] : responses.items()) {
    if (message.input_responses.size() >= kResponsesMax) return;
    message.input_responses.emplace(key, read_elicited(response));
  }
}

const json* Params::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<std::string> Params::text(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  note(name);
  return std::nullopt;
}

bool Params::flag(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  note(name);
  return false;
}

const json* Params::object(const char* name) {
  const json* value = find(name);
  if (value == nullptr || value->is_object()) return value;
  note(name);
  return nullptr;
}

std::string Params::id(const char* name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (is_id(*value)) return value->dump();
  note(name);
  return {};
}

}  // namespace

}  // namespace hutch::server::mcp

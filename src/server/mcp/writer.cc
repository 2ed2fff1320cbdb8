// What an MCP server says.
#include "server/mcp/writer.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "base/text.h"

namespace hutch::server::mcp {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 8> kLevels = {"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};
constexpr const char* kSubscription = "io.modelcontextprotocol/subscriptionId";

// How long a client may take an answer for fresh (2026-07-28, caching). What can change is told of as well.
enum class Freshness { kUnsaid, kStale, kMinutes };
constexpr int kMinutesMs = 300'000;

std::string line(const json& value);
json parsed(std::string_view text) { return parse_json(text); }
std::string finish(const Head& head, json result, Freshness freshness);
std::string notification(std::string_view method, json params);
json implementation(const ServerInfo& server);
json capabilities();
json tool_json(const ToolInfo& tool);
bool is_text(const ArtifactContent& content);
json elicitation(const Inquiry& inquiry);

}  // namespace

std::string initialize_answer(const Head& head, std::string_view version) {
  json result = {
      {"protocolVersion", version}, {"capabilities", capabilities()}, {"serverInfo", implementation(head.server)}};
  if (!head.server.instructions.empty()) result["instructions"] = head.server.instructions;
  return finish(head, std::move(result), Freshness::kUnsaid);
}

std::string discover_answer(const Head& head, const std::vector<std::string>& versions) {
  json result = {{"supportedVersions", versions}, {"capabilities", capabilities()}};
  if (!head.server.instructions.empty()) result["instructions"] = head.server.instructions;
  return finish(head, std::move(result), Freshness::kMinutes);
}

std::string empty_answer(const Head& head) { return finish(head, json::object(), Freshness::kUnsaid); }

std::string tools_answer(const Head& head, const std::vector<ToolInfo>& tools) {
  json list = json::array();
  for (const ToolInfo& tool : tools) list.push_back(tool_json(tool));
  return finish(head, {{"tools", std::move(list)}}, Freshness::kStale);
}

Result<std::string> call_answer(const Head& head, const CallAnswer& answer) {
  json envelope = parsed(answer.envelope_json);
  if (!envelope.is_object()) return fail(Error{Code::kSystem, 0, "the tool's answer is not a JSON object"});
  json content = json::array();
  content.push_back({{"type", "text"}, {"text", answer.envelope_json}});
  json result = {
      {"content", std::move(content)}, {"structuredContent", std::move(envelope)}, {"isError", answer.is_error}};
  return finish(head, std::move(result), Freshness::kUnsaid);
}

std::string input_required_answer(const Head& head, const std::vector<Inquiry>& open, std::string_view state) {
  json requests = json::object();
  for (const Inquiry& inquiry : open) {
    requests[inquiry.key] = {{"method", "elicitation/create"}, {"params", elicitation(inquiry)}};
  }
  return finish(
      head,
      {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}, {"requestState", std::string(state)}},
      Freshness::kUnsaid);
}

std::string elicitation_complete(std::string_view key) {
  return line({{"jsonrpc", "2.0"},
               {"method", "notifications/elicitation/complete"},
               {"params", {{"elicitationId", std::string(key)}}}});
}

std::string elicitation_request(std::string_view id, const Inquiry& inquiry) {
  return line(
      {{"jsonrpc", "2.0"}, {"id", parsed(id)}, {"method", "elicitation/create"}, {"params", elicitation(inquiry)}});
}

std::string artifacts_answer(const Head& head, const std::vector<Artifact>& artifacts) {
  json list = json::array();
  for (const Artifact& artifact : artifacts) {
    list.push_back({{"uri", artifact.uri}, {"name", artifact.name}, {"size", artifact.size}});
    if (!artifact.mime.empty()) list.back()["mimeType"] = artifact.mime;
  }
  return finish(head, {{"resources", std::move(list)}}, Freshness::kStale);
}

std::string templates_answer(const Head& head) {
  return finish(head, {{"resourceTemplates", json::array()}}, Freshness::kMinutes);
}

std::string prompts_answer(const Head& head, const std::vector<Guide>& guides) {
  json list = json::array();
  for (const Guide& guide : guides) {
    list.push_back({{"name", guide.name}, {"title", guide.title}, {"description", guide.description}});
  }
  return finish(head, {{"prompts", std::move(list)}}, Freshness::kStale);
}

std::string prompt_answer(const Head& head, const Guide& guide) {
  json messages = json::array();
  messages.push_back({{"role", "user"}, {"content", {{"type", "text"}, {"text", guide.text}}}});
  return finish(head, {{"description", guide.description}, {"messages", std::move(messages)}}, Freshness::kStale);
}

std::string artifact_answer(const Head& head, std::string_view uri, const ArtifactContent& content) {
  json one = {{"uri", uri}};
  if (!content.mime.empty()) one["mimeType"] = content.mime;
  if (is_text(content)) {
    one["text"] = content.bytes;
  } else {
    one["blob"] = to_base64(content.bytes);
  }
  json contents = json::array();
  contents.push_back(std::move(one));
  return finish(head, {{"contents", std::move(contents)}}, Freshness::kStale);
}

std::string subscription_end(const Head& head) {
  json result = json::object();
  result["_meta"][kSubscription] = parsed(head.id);
  return finish(head, std::move(result), Freshness::kUnsaid);
}

std::string error_answer(const RpcError& error) {
  json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data_json.empty()) body["data"] = parsed(error.data_json);
  json answer = {{"jsonrpc", "2.0"}, {"error", std::move(body)}};
  if (!error.id.empty()) answer["id"] = parsed(error.id);
  return line(answer);
}

std::string text_data(std::string_view key, std::string_view value) {
  json data = json::object();
  data[std::string(key)] = value;
  return line(data);
}

std::string version_data(const std::vector<std::string>& supported, std::string_view requested) {
  return line({{"supported", supported}, {"requested", requested}});
}

std::string progress_notification(std::string_view token_json, const Progress& progress) {
  json params = {{"progressToken", parsed(token_json)}, {"progress", progress.done}};
  if (progress.total) params["total"] = *progress.total;
  if (!progress.message.empty()) params["message"] = progress.message;
  return notification("notifications/progress", std::move(params));
}

std::string log_notification(LogLevel level, std::string_view text) {
  return notification("notifications/message",
                      {{"level", kLevels.at(static_cast<std::size_t>(level))}, {"logger", "hutch"}, {"data", text}});
}

std::string changed_notification(std::string_view what, std::string_view subscription) {
  json params = json::object();
  if (!subscription.empty()) params["_meta"][kSubscription] = parsed(subscription);
  return notification(cat({"notifications/", what, "/list_changed"}), std::move(params));
}

std::string listening_notification(std::string_view subscription, Listening listening) {
  json params = {{"notifications", json::object()}};
  if (listening.tools) params["notifications"]["toolsListChanged"] = true;
  if (listening.resources) params["notifications"]["resourcesListChanged"] = true;
  params["_meta"][kSubscription] = parsed(subscription);
  return notification("notifications/subscriptions/acknowledged", std::move(params));
}

std::optional<LogLevel> log_level_of(std::string_view name) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels.at(i) == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

namespace {

// Text of a sandbox may be no UTF-8; JSON has to be.
std::string line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string finish(const Head& head, json result, Freshness freshness) {
  if (head.era == Era::kModern) {
    if (!result.contains("resultType")) result["resultType"] = "complete";
    result["_meta"]["io.modelcontextprotocol/serverInfo"] = implementation(head.server);
    if (freshness != Freshness::kUnsaid) {
      result["ttlMs"] = freshness == Freshness::kMinutes ? kMinutesMs : 0;
      result["cacheScope"] = "private";
    }
  }
  return line({{"jsonrpc", "2.0"}, {"id", parsed(head.id)}, {"result", std::move(result)}});
}

std::string notification(std::string_view method, json params) {
  json message = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return line(message);
}

json implementation(const ServerInfo& server) {
  json info = {{"name", server.name}, {"version", server.version}};
  if (!server.title.empty()) info["title"] = server.title;
  return info;
}

json capabilities() {
  return {{"tools", {{"listChanged", true}}},
          {"resources", {{"listChanged", true}}},
          {"prompts", json::object()},
          {"logging", json::object()}};
}

json tool_json(const ToolInfo& tool) {
  json entry = {{"name", tool.name}, {"description", tool.description}};
  entry["inputSchema"] = parsed(tool.input_schema_json);
  if (!entry["inputSchema"].is_object()) entry["inputSchema"] = {{"type", "object"}};
  entry["annotations"] = {{"readOnlyHint", tool.read_only},
                          {"destructiveHint", tool.destructive},
                          {"idempotentHint", tool.idempotent},
                          {"openWorldHint", tool.open_world}};
  if (!tool.title.empty()) {
    entry["title"] = tool.title;
    entry["annotations"]["title"] = tool.title;  // where revisions before 2025-06-18 have it
  }
  if (tool.output_schema_json.empty()) return entry;
  json schema = parsed(tool.output_schema_json);
  if (schema.is_object()) entry["outputSchema"] = std::move(schema);
  return entry;
}

json elicitation(const Inquiry& inquiry) {
  if (!inquiry.url.empty()) {
    return {{"mode", "url"}, {"elicitationId", inquiry.key}, {"url", inquiry.url}, {"message", inquiry.message}};
  }
  const json choice = {{"type", "string"}, {"title", "Answer"}, {"enum", inquiry.choices}};
  return {{"message", inquiry.message},
          {"requestedSchema",
           {{"type", "object"}, {"properties", {{"choice", choice}}}, {"required", json::array({"choice"})}}}};
}

// By its type and by what is in it: text has to be UTF-8 to come out of JSON as it went in.
bool is_text(const ArtifactContent& content) {
  const std::string_view mime = content.mime;
  const bool named = mime.starts_with("text/") || mime.starts_with("application/json") || mime.ends_with("+json") ||
                     mime.ends_with("+xml") || mime.starts_with("application/xml");
  const json text = content.bytes;
  return named && content.bytes.find('\0') == std::string::npos && parsed(line(text)) == text;
}

}  // namespace

}  // namespace hutch::server::mcp

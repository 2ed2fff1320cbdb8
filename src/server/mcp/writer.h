// What an MCP server says: answers and notifications as JSON text, a single line each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/mcp/host.h"
#include "server/mcp/reader.h"

namespace hutch::server::mcp {

struct ServerInfo {
  std::string name;
  std::string title;
  std::string version;
  std::string instructions;
};

// Up to 2025-11-25 a client begins with `initialize`; from 2026-07-28 on each request stands for itself.
enum class Era { kLegacy, kModern };

// To whom an answer goes, and by whose rules.
struct Head {
  std::string id;  // JSON text
  Era era = Era::kLegacy;
  const ServerInfo& server;
};

std::string initialize_answer(const Head& head, std::string_view version);
std::string discover_answer(const Head& head, const std::vector<std::string>& versions);
std::string empty_answer(const Head& head);
std::string tools_answer(const Head& head, const std::vector<ToolInfo>& tools);
// An error where the envelope is no JSON object.
Result<std::string> call_answer(const Head& head, const CallAnswer& answer);
// What a client has to find out before it makes the same request again, with `state`.
std::string input_required_answer(const Head& head, const std::vector<Inquiry>& open, std::string_view state);
// A request to a client; `id` is JSON text.
std::string elicitation_request(std::string_view id, const Inquiry& inquiry);
// A page was answered.
std::string elicitation_complete(std::string_view key);
std::string artifacts_answer(const Head& head, const std::vector<Artifact>& artifacts);
std::string templates_answer(const Head& head);
std::string prompts_answer(const Head& head, const std::vector<Guide>& guides);
std::string prompt_answer(const Head& head, const Guide& guide);
std::string artifact_answer(const Head& head, std::string_view uri, const ArtifactContent& content);
std::string subscription_end(const Head& head);
std::string error_answer(const RpcError& error);

// The data of errors: {"uri":"..."}, and the versions that there are.
std::string text_data(std::string_view key, std::string_view value);
std::string version_data(const std::vector<std::string>& supported, std::string_view requested);

std::string progress_notification(std::string_view token_json, const Progress& progress);
std::string log_notification(LogLevel level, std::string_view text);
// `what` is tools or resources. `subscription` is its id as JSON text; empty: to a client that gets all.
std::string changed_notification(std::string_view what, std::string_view subscription);
struct Listening {
  bool tools = false;
  bool resources = false;
};
std::string listening_notification(std::string_view subscription, Listening listening);

std::optional<LogLevel> log_level_of(std::string_view name);

}  // namespace hutch::server::mcp

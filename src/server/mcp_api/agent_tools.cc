// An agent's tools as MCP serves them.
#include "server/mcp_api/agent_tools.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"
#include "server/mcp_api/inquirer.h"
#include "server/mcp_api/secret_inquirer.h"
#include "service/agent/secrets.h"
#include "service/agent/skills.h"
#include "service/plugins/call_tool.h"
#include "service/plugins/tool_description.h"
#include "tool/registry.h"

namespace hutch::server {

namespace {

constexpr std::uint64_t kArtifactBytesMax = 32ULL << 20;
constexpr std::size_t kLogBytesMax = 16 << 10;
constexpr std::uint32_t kArtifactDepthMax = 8;
constexpr std::uint32_t kArtifactsMax = 1000;
constexpr std::string_view kArtifactScheme = "hutch://artifact/";
constexpr std::string_view kSkillScheme = "hutch://skill/";

struct Type {
  std::string_view suffix;
  std::string_view mime;
};
constexpr std::array kTypes = {
    Type{".txt", "text/plain"}, Type{".md", "text/markdown"},      Type{".html", "text/html"},
    Type{".csv", "text/csv"},   Type{".json", "application/json"}, Type{".png", "image/png"},
    Type{".jpg", "image/jpeg"}, Type{".svg", "image/svg+xml"},     Type{".pdf", "application/pdf"},
    Type{".c", "text/x-c"},     Type{".py", "text/x-python"},      Type{".zip", "application/zip"},
};

std::string mime_of(std::string_view name) {
  const auto found = std::ranges::find_if(kTypes, [&](const Type& type) { return name.ends_with(type.suffix); });
  return std::string(found == kTypes.end() ? "application/octet-stream" : found->mime);
}

// Whether an agent may add tools of its own.
bool makes_plugins(Shared& shared, const service::AgentSandbox& agent) {
  const store::AutonomousExec may = agent.autonomous_exec();
  return may.enabled && may.plugin_create && service::Skills(shared.agents.dirs()).is_enabled(service::kPluginSkill);
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '/';
}

// RFC 3986, 2.1: every byte that could mean something else.
std::string percent_encoded(std::string_view path) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : path) {
    if (is_plain(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

// Only to an agent that may execute: another has no business with the names of secrets.
std::string secrets_text(Shared& shared, const std::string& agent) {
  const std::string uses = service::uses_of_secrets(shared.agents, agent);
  return cat(
      {"\n\nSecrets (keys, tokens, passwords) are never part of the conversation: `sandbox_secret_set` without "
       "`value` asks the user for one, `sandbox_secret_check` says how a command uses it.",
       uses.empty() ? "" : " This agent has:\n", uses});
}

}  // namespace

// How it makes tools of its own is told at once to an agent that has none, and that may.
mcp::ServerInfo mcp_server_info(Shared& shared, const std::string& agent_name) {
  mcp::ServerInfo info{.name = "hutch",
                       .title = "hutch",
                       .version = HUTCH_VERSION,
                       .instructions =
                           "Tools that work in a Linux sandbox of this agent's own. Relative paths begin at its place "
                           "of work; share_artifact hands files out."};
  const auto agent = shared.agents.sandbox(agent_name);
  if (agent && (*agent)->autonomous_exec().enabled) info.instructions += secrets_text(shared, agent_name);
  if (!agent || !makes_plugins(shared, **agent) || !shared.plugins.offered(**agent).empty()) return info;
  info.instructions += cat({"\n\n", service::find_skill(service::kPluginSkill)->text});
  return info;
}

std::vector<mcp::Guide> AgentTools::guides() {
  std::vector<mcp::Guide> guides;
  const auto agent = shared_.agents.sandbox(agent_);
  if (!agent || !makes_plugins(shared_, **agent)) return guides;
  const service::Skill& skill = *service::find_skill(service::kPluginSkill);
  guides.push_back({.uri = cat({kSkillScheme, skill.id}),
                    .name = std::string(skill.id),
                    .title = std::string(skill.title),
                    .description = std::string(skill.summary),
                    .text = std::string(skill.text)});
  return guides;
}

std::vector<mcp::ToolInfo> AgentTools::list() {
  std::vector<mcp::ToolInfo> infos;
  const auto agent = shared_.agents.sandbox(agent_);
  if (!agent) return infos;
  for (const service::ToolDescription& tool : service::describe_tools(**agent, shared_.plugins)) {
    const tool::Annotations hints = tool::annotations(tool.kind);
    infos.push_back({.name = tool.name,
                     .title = tool.title,
                     .description = tool.description,
                     .input_schema_json = tool::json_text(tool.input_schema),
                     .output_schema_json = tool::json_text(tool.output_schema),
                     .read_only = hints.read_only,
                     .destructive = hints.destructive,
                     .idempotent = hints.idempotent,
                     .open_world = hints.open_world});
  }
  return infos;
}

Result<mcp::CallAnswer> AgentTools::call(const std::string& name, const std::string& arguments_json,
                                         const mcp::CallOptions& options) {
  const auto agent = TRY(shared_.agents.sandbox(agent_));
  if (!service::is_tool(*agent, &shared_.plugins, name)) {
    return fail(Error::not_found(cat({"there is no tool ", printable(name, 64)})));
  }
  double done = 0;
  const auto on_output = [&](tool::Stream stream, std::string_view bytes) {
    done += static_cast<double>(bytes.size());
    const std::string_view last = bytes.substr(bytes.size() - std::min(bytes.size(), kLogBytesMax));
    options.on_progress(
        {.done = done, .message = cat({std::to_string(static_cast<std::uint64_t>(done)), " bytes of output"})});
    options.on_log(stream == tool::Stream::kError ? mcp::LogLevel::kNotice : mcp::LogLevel::kInfo, last);
  };
  // Whoever uses the client answers while the call goes on.
  std::optional<Inquirer> inquirer;
  if (options.inquire) inquirer.emplace(shared_, agent_, options);
  std::optional<SecretInquirer> secrets;
  if (options.show) secrets.emplace(shared_, agent_, options);
  const service::ToolCall call{.name = name,
                               .arguments = arguments_json,
                               .turn = options.turn,
                               .on_output = on_output,
                               .stop = options.cancelled,
                               .tasks = &shared_.tasks,
                               .agents = &shared_.agents,
                               .plugins = &shared_.plugins};
  const tool::Envelope envelope = service::call_tool(*agent, shared_.limiters, call);
  return mcp::CallAnswer{tool::json_text(envelope), !envelope.ok};
}

// The sandbox itself looks, so that a link in there leads nowhere on the host.
Result<std::vector<mcp::Artifact>> AgentTools::artifacts() {
  const auto agent = TRY(shared_.agents.sandbox(agent_));
  const wire::FilePlace place{agent->layout().output, "."};
  const auto reply = TRY(agent->file(wire::ListDirectory{place, kArtifactDepthMax, kArtifactsMax}));
  std::vector<mcp::Artifact> artifacts;
  const auto* listed = std::get_if<wire::FileEntries>(&reply);
  const auto scrubber = agent->secrets().scrubber();
  if (!scrubber->withheld().empty()) return fail(Error{Code::kSystem, 0, scrubber->withheld()});
  for (const wire::FileEntry& entry : listed != nullptr ? listed->entries : std::vector<wire::FileEntry>()) {
    if (entry.stat.kind != wire::FileKind::kRegular) continue;
    // A name can hold a value as well as a text can; by what comes instead nobody could read it.
    if (scrubber->scrub(entry.path) != entry.path) continue;
    artifacts.push_back({.uri = cat({kArtifactScheme, agent_, "/", percent_encoded(entry.path)}),
                         .name = entry.path,
                         .mime = mime_of(entry.path),
                         .size = entry.stat.version.size});
  }
  for (const mcp::Guide& guide : guides()) {
    artifacts.push_back({.uri = guide.uri, .name = guide.name, .mime = "text/markdown", .size = guide.text.size()});
  }
  return artifacts;
}

Result<mcp::ArtifactContent> AgentTools::read_artifact(const std::string& uri) {
  for (mcp::Guide& guide : guides()) {
    if (guide.uri == uri) return mcp::ArtifactContent{"text/markdown", std::move(guide.text)};
  }
  const auto absent = [&] { return fail(Error::not_found(cat({"there is no ", printable(uri, 200)}))); };
  const auto all = TRY(artifacts());
  const auto found = std::ranges::find(all, uri, &mcp::Artifact::uri);
  if (found == all.end()) return absent();
  if (found->size > kArtifactBytesMax) {
    return fail(Error::invalid(cat({found->name, " is larger than ", std::to_string(kArtifactBytesMax >> 20),
                                    " MiB: it is in the agent's output directory, which hutch agent show names"})));
  }
  const auto agent = TRY(shared_.agents.sandbox(agent_));
  mcp::ArtifactContent content{found->mime, {}};
  while (content.bytes.size() < found->size) {
    const wire::ReadFile read{{agent->layout().output, found->name}, content.bytes.size(), wire::kFileChunkBytes};
    const auto reply = TRY(agent->file(read));
    const auto* piece = std::get_if<wire::FileContent>(&reply);
    if (piece == nullptr || piece->bytes.empty()) break;
    content.bytes += piece->bytes;
  }
  // For a model, as what sandbox_read_file shows; what is no text keeps its bytes.
  const secret::Cut end = content.bytes.ends_with('\n') ? secret::Cut::kNowhere : secret::Cut::kEnd;
  if (is_utf8(content.bytes)) content.bytes = agent->secrets().scrubber()->scrub(content.bytes, end);
  return content;
}

}  // namespace hutch::server

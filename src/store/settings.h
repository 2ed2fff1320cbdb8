// config.json: a user's settings that are no policy, as text and as values. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/agent_record.h"

namespace hutch::store {

struct Settings {
  // Of `hutch serve`, where its options do not say otherwise.
  struct Daemon {
    std::optional<std::chrono::milliseconds> idle;  // 0: it stays
    std::string listen;                             // ADDRESS:PORT; empty: the Unix socket alone
    std::string token_file;                         // empty: `token` beside config.json
    std::optional<int> connections_max;
    std::optional<std::uint64_t> upload_max;  // bytes
  } daemon;
  // What a new agent begins with.
  struct Sandbox {
    std::string backend;
    std::string image;
    std::optional<int> timeout;  // seconds
    std::string memory;          // as AgentLimits has them
    std::string cpus;
    // Of what the pool calls trusted, on the backend container.
    enum class Network { kGateway, kHost } network = Network::kGateway;
  } sandbox;
  struct Security {
    // The backend none is refused; not set: to agents, not to what a person types.
    std::optional<bool> sandbox_only;
    bool asks_without_isolation = false;     // before each agent that has none starts
    bool git_brings_committed = false;       // content of protected files, into sandboxes' work trees
    std::vector<std::string> allowed_hosts;  // that every agent may reach besides what its policy allows
    std::optional<int> sandboxes_max;        // of agents, at once
  } security;
  // Of the pool. Times are in seconds.
  struct Pool {
    std::optional<int> warm;
    std::optional<int> queue;
    std::optional<int> wait;
    std::optional<int> idle;
  } pool;
  // The model that agents with `inference` may use, through the host.
  struct Inference {
    std::string base_url;
    std::string model;
    std::string key_secret;  // the name of the secret that holds the key
  } inference;
  CodeAgent code_agent;  // of a new agent
};

// `source` begins every error, and the line follows it.
Result<Settings> parse_settings(std::string_view text, std::string_view source);

// The record of an agent that nobody has said anything of yet.
AgentRecord with_defaults(AgentRecord record, const Settings& settings);

// `text` with one key changed; without a value the key goes. The value is plain text where the key takes text, else
// JSON.
struct SettingEdit {
  std::string key;
  std::optional<std::string> value;
};
Result<std::string> edited_settings(std::string_view text, std::string_view source, const SettingEdit& edit);

// A key's value as JSON; nothing where it is not set.
Result<std::optional<std::string>> setting_at(std::string_view text, std::string_view source, std::string_view key);

// Every key but the sections, with what it does and what holds where it is not set.
struct SettingText {
  std::string_view name;
  std::string_view text;
  std::string_view otherwise;
};
std::vector<SettingText> setting_texts();

std::string settings_schema();

}  // namespace hutch::store

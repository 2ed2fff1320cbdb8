// An agent's record: everything that is set for it, as `hutch agent show --json` prints it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "policy/backend_kind.h"

namespace hutch::store {

struct AutonomousExec {
  bool enabled = false;
  int max_commands_per_turn = 10;  // 0: no limit
  int command_timeout = 30;        // seconds; what a tool's call takes that names none
  bool plugin_create = true;
  bool operator==(const AutonomousExec&) const = default;
};

// As they are written: "512M", "1.5". Empty: not limited.
struct AgentLimits {
  std::string memory;
  std::string cpus;
  std::string pids;
  std::string tmp_size;
  std::string disk;  // of what is changed of an engine's image
  bool operator==(const AgentLimits&) const = default;
};

struct CodeAgent {
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  bool operator==(const CodeAgent&) const = default;
};

// Laid over the policy's network; its rules about files stay as they are.
struct AgentNetwork {
  std::string mode;  // none, outbound, rules or registries; empty: the policy's
  std::vector<std::string> allowed_domains;  // besides the policy's
  std::vector<std::string> denied_domains;
  bool operator==(const AgentNetwork&) const = default;
};

// Laid over the policy's rules about files, as options of a command line are. Absolute, or from "~" on.
struct AgentFiles {
  std::vector<std::string> allow_read;
  std::vector<std::string> allow_write;
  bool operator==(const AgentFiles&) const = default;
};

struct AgentRecord {
  std::string name;     // [a-z][a-z0-9-]*, at most kAgentNameBytesMax
  std::string id;       // UUID, given once
  std::string os_user;  // of the backend `user`; empty: agent-NAME
  std::string backend;  // empty: namespace
  std::string image;
  std::string dir;      // a directory of the host that is its place of work; empty: its home
  std::string policy;   // a file or a preset; empty: as for `hutch run`
  AgentNetwork network;
  AgentFiles files;
  AgentLimits limits;
  AutonomousExec autonomous_exec;
  bool inference = false;
  std::vector<std::string> dispatch_to;
  CodeAgent code_agent;
  bool operator==(const AgentRecord&) const = default;
};

// The backend that the record names; the default one for a record without a name. An agent's settings are checked when
// they are set, so an unknown name can only come from another version: it counts as the default here, and the start of
// its sandbox fails with the name.
policy::BackendKind backend_kind(const AgentRecord& record);

// In place of an image's name: none until something is to be installed, and the default image from then on.
inline constexpr std::string_view kImageOnNeed = "auto";
inline bool has_image(const AgentRecord& record) { return !record.image.empty() && record.image != kImageOnNeed; }

inline constexpr std::size_t kAgentNameBytesMax = 24;  // "agent-" and it are a user name of 32 at most, useradd(8)

// Of the sandboxes of the E2B-compatible API.
inline constexpr std::string_view kE2bAgentPrefix = "e2b-";

// An error that says what a name may be.
Status check_agent_name(std::string_view name);

// What two names must not share, for they would be taken for each other: the name without its dashes.
std::string folded_name(std::string_view name);

std::string format_agent(const AgentRecord& record);
// Strict: an unknown key, or a value of another type or out of its range, is an error.
Result<AgentRecord> parse_agent(std::string_view json);

// The record with KEY=VALUE set, "autonomousExec.enabled=true"; VALUE is JSON, or text where the key takes text.
// KEY+=TEXT adds to a list; what is added to one of the two lists of domains is taken from the other. The
// name and the id cannot be set.
Result<AgentRecord> with_setting(const AgentRecord& record, std::string_view setting);

}  // namespace hutch::store

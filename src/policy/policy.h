// Policy: what a sandbox may do, as its file says it. Paths are as written; nothing here has looked at the host.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hutch::policy {

// Whether wildcards in an entry are read: {"path": P, "literal": true} turns them off.
enum class EntryForm { kPattern, kLiteral };

struct PathEntry {
  std::string text;  // "~/x", ".", "src/**/*.pem"
  EntryForm form = EntryForm::kPattern;
  bool operator==(const PathEntry&) const = default;
};

enum class GitConfig { kProtected, kWritable };

struct Filesystem {
  std::vector<PathEntry> deny_read;
  std::vector<PathEntry> allow_read;
  std::vector<PathEntry> allow_write;
  std::vector<PathEntry> deny_write;
  GitConfig git_config = GitConfig::kProtected;
};

enum class NetworkMode {
  kNone,      // "none": nothing is reachable and nobody is asked
  kOutbound,  // "outbound": everything but the host and private ranges
  kRules,     // lists of names
};

struct Network {
  NetworkMode mode = NetworkMode::kRules;
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;
};

// Absent values are not limited.
struct Limits {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> cpu_millis;
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> tmp_bytes;
  std::optional<std::uint64_t> output_bytes;
};

struct EnvironmentEntry {
  std::string name;
  std::optional<std::string> value;  // absent: the caller's own
};

enum class Switch { kEnabled, kDisabled };

struct Policy {
  std::string source = "built-in default";  // where it was read: a file, or a file and its project
  std::optional<std::string> project;       // the entry of projects.json that it is; "." means this directory
  Switch enabled = Switch::kEnabled;
  std::optional<std::string> backend;
  Filesystem filesystem;
  Network network;
  Limits limits;
  std::vector<EnvironmentEntry> environment;
  int mandatory_search_depth = 3;
  std::vector<std::string> notes;  // keys that were read and have no meaning here, a line each
};

}  // namespace hutch::policy

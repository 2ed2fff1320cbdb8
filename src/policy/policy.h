// Policy: what a sandbox may do, as its file says it. Paths are as written; nothing here has looked at the host.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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

enum class OuterRepositories { kBrought, kLeft };  // those of linked worktrees and of submodules

struct Filesystem {
  std::vector<PathEntry> deny_read;
  std::vector<PathEntry> allow_read;
  std::vector<PathEntry> allow_write;
  std::vector<PathEntry> deny_write;
  std::vector<PathEntry> credentials;  // never readable, whatever is above them
  std::vector<PathEntry> own_directories;  // empty at the start and the sandbox's own, whatever the host has there
  GitConfig git_config = GitConfig::kProtected;
  OuterRepositories outer_repositories = OuterRepositories::kBrought;
  std::vector<std::string> allow_obeyed;  // names of the list of files that programs obey (policy/obeyed/obeyed.h)
};

enum class NetworkMode {
  kNone,      // "none": nothing is reachable and nobody is asked
  kOutbound,  // "outbound": everything but the host and private ranges
  kRules,     // lists of names
  kHost,      // "host": the machine's own, held by no rule; of a backend that can have it alone
};

// Requests of one host: those that match are let through, all others are refused. Empty lists match everything.
struct HttpRule {
  std::string host;  // as an entry of allowedDomains
  std::vector<std::string> methods;
  std::vector<std::string> paths;  // patterns: * within a segment, ** across
  std::vector<std::pair<std::string, std::string>> set_headers;
  std::vector<std::string> remove_headers;
  bool operator==(const HttpRule&) const = default;
};

// Ports of the sandbox's loopback at which the gateway listens itself.
inline constexpr std::array kGatewayPorts = {1, 53, 1023};

// Host ports and UDP rules together: the sockets of each travel in one message.
inline constexpr std::size_t kOpeningsMax = 28;

// A port of the sandbox that is reachable at a port of the host's loopback.
struct PublishedPort {
  int host = 0;
  int sandbox = 0;
  bool operator==(const PublishedPort&) const = default;
};

// What a name that no rule allows is answered.
enum class DnsDenial { kRefused, kNameError };

// The proxies through which the gateway itself has to go out. URLs ("http://user:password@host:port"); empty: none.
struct ParentProxy {
  std::string http;
  std::string https;
  std::vector<std::string> no_proxy;  // names, suffixes, addresses, ranges, each with an optional port; "*"
  bool operator==(const ParentProxy&) const = default;
};

struct TlsOpening {
  std::vector<std::string> exclude_domains;  // never opened
  std::vector<std::string> extra_ca_paths;   // trusted besides the host's own authorities
};

// kWanted: the policy says so itself.
enum class Asking { kAllowed, kWanted, kNever };

struct Network {
  NetworkMode mode = NetworkMode::kRules;
  std::vector<std::string> allowed_domains;
  std::vector<std::string> denied_domains;
  std::vector<std::pair<std::string, std::string>> denied_reasons;  // an entry of denied_domains, what to say
  Asking asking = Asking::kAllowed;                                  // strictAllowlist: kNever
  Asking connect_questions = Asking::kAllowed;                       // ask.connect "deny": kNever
  std::vector<std::string> denied_resolved_addresses;                // ranges
  DnsDenial dns_denial = DnsDenial::kRefused;
  std::vector<HttpRule> rules;
  std::vector<std::string> allowed_udp;  // "ntp.example.org:123": one host or address and one port
  std::vector<std::string> allow_unix_sockets;  // of the host: paths and patterns
  std::vector<int> host_ports;  // of the host's loopback, there at the same port of the sandbox's
  std::vector<PublishedPort> publish;
  std::vector<std::string>
      from_options;    // entries of the lists of domains, of UDP and of sockets that the command line added
  std::optional<ParentProxy> parent_proxy;  // absent: as the caller's environment says
  TlsOpening tls;
};

// Absent values are not limited.
struct Limits {
  std::optional<std::chrono::milliseconds> timeout;
  std::optional<std::chrono::milliseconds> idle_timeout;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> cpu_millis;
  std::optional<std::uint64_t> pids;
  std::optional<std::uint64_t> tmp_bytes;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<std::uint64_t> output_bytes;
};

struct EnvironmentEntry {
  std::string name;
  std::optional<std::string> value;  // absent: the caller's own
};

// Whether what no rule says is a question. Of connections the network has it.
struct Asks {
  Asking read = Asking::kAllowed;
  Asking write = Asking::kAllowed;
  Asking socket = Asking::kAllowed;
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
  Asks asks;
  std::optional<std::chrono::milliseconds> ask_timeout;  // how long a question waits for its answer
  int mandatory_search_depth = 3;
  std::vector<std::string> notes;  // keys that were read and have no meaning here, a line each
};

}  // namespace hutch::policy

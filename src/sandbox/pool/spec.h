// What somebody wants of a pool: two that ask for the same can have the same sandbox, one after nobody.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/backend_kind.h"

namespace hutch::sandbox {

// kSandboxed: no network. kTrusted: what the user's rules let through, by the gateway. Neither becomes the other.
enum class Trust { kSandboxed, kTrusted };
std::string_view name_of(Trust trust);
Result<Trust> trust_named(std::string_view name);

// Of a kTrusted one. kHost: the machine's own network, of which no rule holds anything.
enum class PoolNetwork { kGateway, kHost };

enum class MountUse { kReadWrite, kReadOnly };

struct PoolMount {
  std::string host;     // absolute
  std::string sandbox;  // absolute
  MountUse use = MountUse::kReadWrite;
  bool operator==(const PoolMount&) const = default;
};

struct PoolSpec {
  policy::BackendKind backend = policy::kBackendDefault;
  Trust trust = Trust::kSandboxed;
  std::string image{};  // empty: the host's own files, read-only
  std::uint64_t memory_bytes = 0;
  std::uint64_t cpu_millis = 0;
  std::uint64_t pids = 0;
  std::uint64_t disk_bytes = 0;  // of each of its own file systems
  std::vector<PoolMount> mounts{};
  std::map<std::string, std::string> environment{};
  std::vector<std::string> hosts{};  // of kTrusted: these alone; empty: no limit but the policy's
  PoolNetwork network = PoolNetwork::kGateway;
  std::string policy{};              // a digest of the user's rules: with others it is another sandbox
  bool operator==(const PoolSpec&) const = default;
};

// Different for different specs, whatever is in them.
std::string key_of(const PoolSpec& spec);

}  // namespace hutch::sandbox

// The pool of this user: what its settings say, what is asked of it, and the sandboxes that it starts here.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/pool/pool.h"
#include "service/pool/pooled_place.h"
#include "store/settings.h"

namespace hutch::service {

// What somebody wants; what is not said is as config.json has it, else as kPool... below.
struct PoolWish {
  std::string backend{};
  sandbox::Trust trust = sandbox::Trust::kSandboxed;
  std::optional<std::string> image{};  // empty: none, whatever the settings say
  std::string memory{};                // "512m"
  std::string cpus{};                  // "1.5"
  std::optional<std::uint64_t> pids{};
  std::vector<sandbox::PoolMount> mounts{};
  std::map<std::string, std::string> environment{};
};

inline constexpr std::uint64_t kPoolMemoryBytes = 512 << 20;  // where a cgroup can hold it
inline constexpr std::uint64_t kPoolCpuMillis = 1000;         // likewise
inline constexpr std::uint64_t kPoolPids = 512;
inline constexpr std::chrono::seconds kPoolTimeout{300};  // of a command that names none
inline constexpr std::size_t kPoolSandboxes = 3;

// The controllers ("memory", "cpu") that hutch has a cgroup for, and that the engine of containers has.
std::set<std::string> cgroup_controllers();
std::optional<std::set<std::string>> engine_controllers();  // absent: the engine did not answer
// "memory", "cpu": nothing limits it in a sandbox of this kind.
std::vector<std::string> not_held(const sandbox::PoolSpec& spec);

class SandboxPool {
 public:
  // `limits` replaces what the settings say; a test and the library have their own.
  static Result<std::unique_ptr<SandboxPool>> open(PoolHost host, std::optional<sandbox::PoolLimits> limits = {});
  explicit SandboxPool(PoolHost host) : host_(std::move(host)), cgroups_(cgroup_controllers()) {}

  Result<sandbox::PoolSpec> spec_of(const PoolWish& wish) const;
  Result<std::chrono::milliseconds> timeout() const;  // of a command that names none
  sandbox::Pool& pool() { return *pool_; }

 private:
  const PoolHost host_;
  bool holds(std::string_view controller, const sandbox::PoolSpec& spec) const;

  const std::set<std::string> cgroups_;
  mutable std::mutex engine_mutex_;
  mutable std::optional<std::set<std::string>> engine_;  // of the first answer
  std::unique_ptr<sandbox::Pool> pool_;
};

// The host's own network is for what the user's settings say: no wish has a word for it.
Result<sandbox::PoolNetwork> pool_network(const sandbox::PoolSpec& spec, const store::Settings& settings);

// What a pool may have by the user's settings.
Result<sandbox::PoolLimits> pool_limits(const PoolHost& host);

// Starts one and waits for it.
Result<std::unique_ptr<sandbox::PooledSandbox>> start_pooled(const sandbox::PoolSpec& spec, const PoolHost& host);

}  // namespace hutch::service

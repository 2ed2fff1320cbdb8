// The daemon's pool: opened when somebody first needs it, with the leases of those who hold its sandboxes.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "service/pool/sandbox_pool.h"
#include "tool/value.h"

namespace hutch::server {

using tool::Value;

// Any thread may use it.
class PoolDesk {
 public:
  using Clock = std::chrono::steady_clock;
  // Whoever has an id can guess no other. One that nobody uses for so long is given back: its holder is gone.
  static constexpr std::chrono::minutes kUnused{10};

  PoolDesk(host::StateDirs dirs, std::function<void(const std::string& line)> tell)
      : dirs_(std::move(dirs)), tell_(std::move(tell)) {}

  struct Held {
    sandbox::Pool::Lease lease;
    std::chrono::milliseconds timeout{0};  // of a command that names none
    sandbox::PoolSpec spec{};
    std::atomic<int> running = 0;
    std::atomic<Clock::time_point> used = Clock::now();
  };
  struct Acquired {
    std::string id;
    std::shared_ptr<Held> held;
  };
  // `wish` has what a service::PoolWish has, by name. Once `is_gone` says so nobody waits for it any more.
  using IsGone = std::function<bool()>;
  Result<Acquired> acquire(const Value::Object& wish, const IsGone& is_gone);
  Result<std::shared_ptr<Held>> find(const std::string& id) const;
  enum class How { kRelease, kDestroy };  // kDestroy: it is gone when this returns
  Status give_back(const std::string& id, How how);

  Status fill(const Value::Object& wish, std::int64_t count, const IsGone& is_gone);
  std::size_t drain();
  Value stats() const;
  std::size_t busy() const;
  void sweep();    // those that nobody uses
  Status end_all();

 private:
  Result<service::SandboxPool*> opened();
  service::SandboxPool* pool() const;  // null: nobody has needed it

  const host::StateDirs dirs_;
  const std::function<void(const std::string& line)> tell_;
  std::stop_source ending_;
  mutable std::mutex mutex_;
  std::unique_ptr<service::SandboxPool> pool_;
  std::map<std::string, std::shared_ptr<Held>> held_;
};

// What it has of memory, processors and processes; null where nothing limits it, which `notHeld` names too.
tool::Value::Object pool_limits_object(const sandbox::PoolSpec& spec);

// The members of a wish, for those who check what a body may have.
inline constexpr auto kWishKeys = {"backend", "trust", "image", "memory", "cpu", "pids", "env", "mounts"};

}  // namespace hutch::server

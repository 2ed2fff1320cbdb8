// The cgroup of one sandbox: its limits, what hit them, its end. cgroups(7), the kernel's cgroup-v1 and cgroup-v2.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/machine/cgroups.h"
#include "plan/plan.h"

namespace hutch::host {

// Removed when it goes. One whose hutch was killed is removed by the next that makes one, or looks for such.
class Cgroup {
 public:
  // An error where a limit that is asked for cannot be held there.
  static Result<Cgroup> make(const CgroupPlace& place, const plan::ResourceLimits& limits);
  // Likewise, below one that all of that user with the same limits are in, whichever process made them: they have the
  // limits together as well. Root's.
  static Result<Cgroup> make_for_user(const CgroupPlace& place, const plan::ResourceLimits& limits, std::uint32_t user);

  Cgroup(Cgroup&&) noexcept = default;
  Cgroup& operator=(Cgroup&&) = delete;
  ~Cgroup();

  // The process, and all that it starts from now on, is in it.
  Status admit(pid_t process);
  CgroupEvents events() const;
  // Each absent where no controller of this cgroup counts it.
  struct Use {
    std::optional<std::uint64_t> memory_bytes;
    std::optional<std::chrono::microseconds> cpu;
  };
  // Of all that share its limits.
  Use use() const;
  // As a person is told: "cgroup v2".
  std::string_view kind_name() const;

 private:
  friend class SharedCgroup;
  Cgroup(plan::CgroupKind kind, plan::ResourceLimits limits) : kind_(kind), limits_(limits) {}
  CgroupPlace below() const;  // where those are made that share its limits
  Status count_those_below() const;
  Status allow_processes_of(std::size_t cgroups) const;
  enum class Directories { kNew, kMayBeThere };
  Status make_directories(const CgroupPlace& place, Directories directories);

  plan::CgroupKind kind_;
  plan::ResourceLimits limits_;
  std::string name_;
  std::vector<std::string> directories_;  // ours, each removed at the end
  std::string memory_;  // the one of them that limits memory, or empty
  std::string pids_;
  std::string cpu_;
  bool is_of_user_ = false;  // others may be in it
  std::shared_ptr<Cgroup> above_;  // whose limits hold too; it goes when the last below it has gone
};

// Limits that several sandboxes have together as well as each for itself: a cgroup above theirs. Any thread may use it.
class SharedCgroup {
 public:
  // As Cgroup::make, together with those that were made with the same limits and are still there. By a systemd scope
  // each has its own: those have none above them that hutch could limit.
  Result<Cgroup> make(const CgroupPlace& place, const plan::ResourceLimits& limits);

 private:
  std::mutex mutex_;
  std::weak_ptr<Cgroup> above_;
};

// Those of hutches that were killed.
void remove_stale_cgroups(const CgroupPlace& place);

// Whether any of the limits needs a cgroup or rlimits at all.
bool wants_cgroup(const plan::ResourceLimits& limits);

}  // namespace hutch::host

// What a sandbox uses of the machine, and how much it may.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace hutch::sandbox {

struct Usage {
  std::uint64_t memory_bytes = 0;
  std::chrono::microseconds cpu{0};  // since the start
};

// Summed over a process and all that descends from it. Processes that come and go meanwhile may be missed.
Usage usage_below(pid_t first);

// Identifies a process: no later process has the same values, whatever its name.
struct ProcessStart {
  pid_t process = 0;
  std::uint64_t started = 0;  // in ticks since the boot (proc_pid_stat(5)); 0: it has ended meanwhile
  bool operator==(const ProcessStart&) const = default;
};
// The one of `first` and its descendants that the namespace of process numbers of `first` knows by this number
// (pid_namespaces(7)). Nothing is returned if there is none, or if it has ended.
std::optional<ProcessStart> process_numbered(pid_t first, std::uint32_t number);
// `first` and all its descendants, including those that nobody has waited for; kProcessesMax at most.
std::vector<ProcessStart> processes_below(pid_t first);

// Whether anything runs below `first` that is neither of the programs that hold the sandbox: those that `first` and
// `guest` are, by their names. A process that takes such a name for its own is not seen.
bool runs_anything(pid_t first, pid_t guest);

// The load between two looks.
class CpuMeter {
 public:
  using Clock = std::chrono::steady_clock;
  CpuMeter() = default;
  explicit CpuMeter(Clock::time_point start) : at_(start) {}
  // Since the last call, or the start; 100 is one processor. A call right after another one gets the same answer.
  double percent(std::chrono::microseconds used, Clock::time_point now);

 private:
  Clock::time_point at_ = Clock::now();
  std::chrono::microseconds used_{0};
  double last_ = 0;
};

struct Resources {
  std::uint64_t memory_bytes = 0;  // allowed: the limit, else what the machine has
  std::uint64_t memory_used_bytes = 0;
  double cpu_cores = 0;  // allowed
  double cpu_percent = 0;
  std::uint64_t disk_bytes = 0;  // allowed: what is used and what is left on that file system
  std::uint64_t disk_used_bytes = 0;
};

// What these limits leave of the machine; of the disk nothing is said.
Resources allowed_of(const plan::ResourceLimits& limits);

// `disk` is a directory of the host: its tree is what counts as used.
Resources resources_of(const Usage& usage, const plan::ResourceLimits& limits, const std::string& disk,
                       CpuMeter& meter);

}  // namespace hutch::sandbox

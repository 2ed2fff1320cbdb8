// How much of the processors, and of the rest, a process gets.
#include "sys/process/scheduling.h"

#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string>

#include "base/decimal.h"
#include "sys/call.h"
#include "sys/files/files.h"

namespace hutch::sys {

namespace {

constexpr const char* kOomScore = "/proc/self/oom_score_adj";
constexpr std::size_t kOomScoreBytesMax = 16;

// Whoever has raised it may not have the kernel end this process before others. Where the host itself has a floor
// above 0, which takes CAP_SYS_RESOURCE to go below, that floor (proc_pid_oom_score_adj(5)).
Status take_usual_oom_score() {
  const std::string text = TRY(read_file(kOomScore, kOomScoreBytesMax));
  const auto raised = decimal_of(text.substr(0, text.find('\n')));  // absent: below 0
  for (std::uint32_t score = 0; raised && score < *raised; ++score) {
    if (const Status written = write_file(kOomScore, std::to_string(score)); written) return {};
  }
  return {};
}

}  // namespace

Status take_usual_priority() {
  const sched_param none{};
  TRY(check(::sched_setscheduler(0, SCHED_OTHER, &none), {"sched_setscheduler(SCHED_OTHER)"}));
  TRY(check(::setpriority(PRIO_PROCESS, 0, 0), {"setpriority(0)"}));
  // The kernel takes those away that the process's cpuset has not (sched_setaffinity(2)).
  std::array<unsigned char, 1024> every{};
  every.fill(0xff);
  TRY(check(::syscall(SYS_sched_setaffinity, 0, every.size(), every.data()), {"sched_setaffinity()"}));
  TRY(check(::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_NONE, 0)),
            {"ioprio_set(IOPRIO_CLASS_NONE)"}));
  return take_usual_oom_score();
}

}  // namespace hutch::sys

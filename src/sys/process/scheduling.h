// How much of the processors and disks a process gets, and how soon it is ended where memory is short:
// sched_setscheduler(2), setpriority(2), sched_setaffinity(2), ioprio_set(2), proc_pid_oom_score_adj(5).
#pragma once

#include "base/result.h"

namespace hutch::sys {

// As a process of the machine's has it, whatever whoever started this one did with (nice(1), chrt(1), taskset(1),
// ionice(1), choom(1)). An error where that is more than this process may have (CAP_SYS_NICE).
Status take_usual_priority();

}  // namespace hutch::sys

// How much of the processors a process gets: sched_setscheduler(2), setpriority(2).
#pragma once

#include "base/result.h"

namespace hutch::sys {

// As a process of the machine's has it, whatever whoever started this one did with (nice(1), chrt(1)). An error where
// that is more than this process may have (CAP_SYS_NICE).
Status take_usual_priority();

}  // namespace hutch::sys

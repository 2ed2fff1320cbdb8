// How much of the processors a process gets.
#include "sys/scheduling.h"

#include <sched.h>
#include <sys/resource.h>

#include "sys/call.h"

namespace hutch::sys {

Status take_usual_priority() {
  const sched_param none{};
  TRY(check(::sched_setscheduler(0, SCHED_OTHER, &none), {"sched_setscheduler(SCHED_OTHER)"}));
  return check(::setpriority(PRIO_PROCESS, 0, 0), {"setpriority(0)"});
}

}  // namespace hutch::sys

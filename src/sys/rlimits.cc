// Limits of a process and of what it starts.
#include "sys/rlimits.h"

#include <sys/resource.h>

#include <algorithm>

#include "sys/call.h"

namespace hutch::sys {

namespace {

// Who has fewer already may not have more.
Status limit_processes(std::uint64_t value) {
  rlimit limit{};
  TRY(check(::getrlimit(RLIMIT_NPROC, &limit), {"getrlimit(RLIMIT_NPROC)"}));
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return check(::setrlimit(RLIMIT_NPROC, &limit), {"setrlimit(RLIMIT_NPROC)"});
}

}  // namespace

Status limit_resource(Resource resource, std::uint64_t value) {
  const rlimit limit{value, value};
  switch (resource) {
    case Resource::kProcesses: return limit_processes(value);
    case Resource::kAddressSpace: return check(::setrlimit(RLIMIT_AS, &limit), {"setrlimit(RLIMIT_AS)"});
    case Resource::kCoreSize: return check(::setrlimit(RLIMIT_CORE, &limit), {"setrlimit(RLIMIT_CORE)"});
  }
  return {};
}

Result<HardLimits> hard_limits() {
  rlimit files{};
  rlimit processes{};
  TRY(check(::getrlimit(RLIMIT_NOFILE, &files), {"getrlimit(RLIMIT_NOFILE)"}));
  TRY(check(::getrlimit(RLIMIT_NPROC, &processes), {"getrlimit(RLIMIT_NPROC)"}));
  HardLimits found{.open_files = files.rlim_max, .processes = std::nullopt};
  if (processes.rlim_max != RLIM_INFINITY) found.processes = processes.rlim_max;
  return found;
}

}  // namespace hutch::sys

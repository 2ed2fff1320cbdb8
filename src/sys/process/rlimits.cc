// Limits of a process and of what it starts.
#include "sys/process/rlimits.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <string>

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

Result<ProcessLimit> limit_of(int resource) {
  rlimit limit{};
  const auto which = static_cast<__rlimit_resource_t>(resource);
  TRY(check(::getrlimit(which, &limit), {"getrlimit(", std::to_string(resource), ")"}));
  return ProcessLimit{limit.rlim_cur, limit.rlim_max};
}

Status lower_limit(int resource, ProcessLimit to) {
  const ProcessLimit now = TRY(limit_of(resource));
  const rlim_t hard = std::min<rlim_t>(now.hard, to.hard);
  const rlimit limit{std::min<rlim_t>({now.soft, to.soft, hard}), hard};
  const auto which = static_cast<__rlimit_resource_t>(resource);
  return check(::setrlimit(which, &limit), {"setrlimit(", std::to_string(resource), ")"});
}

Status lift_limits() {
  struct Enough {
    __rlimit_resource_t which;
    rlim_t soft;
  };
  static constexpr std::array kEnough = {Enough{RLIMIT_AS, RLIM_INFINITY},   Enough{RLIMIT_CPU, RLIM_INFINITY},
                                         Enough{RLIMIT_DATA, RLIM_INFINITY}, Enough{RLIMIT_FSIZE, RLIM_INFINITY},
                                         Enough{RLIMIT_STACK, 8 << 20},      Enough{RLIMIT_NOFILE, 1024}};
  for (const auto& [which, soft] : kEnough) {
    const std::string number = std::to_string(which);
    rlimit limit{};
    TRY(check(::getrlimit(which, &limit), {"getrlimit(", number, ")"}));
    limit = {soft, std::max(limit.rlim_max, soft)};
    TRY(check(::setrlimit(which, &limit), {"setrlimit(", number, ")"}));
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

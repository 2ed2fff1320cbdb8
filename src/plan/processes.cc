// The default limit of processes, from what is known of the machine.
#include "plan/processes.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hutch::plan {

namespace {

// "6.1.0-13-amd64"; what is no such text is an old one.
bool is_at_least(std::string_view release, unsigned major, unsigned minor) {
  unsigned first = 0;
  unsigned second = 0;
  const char* const begin = release.data();
  const char* const end = begin + release.size();
  const auto dot = std::from_chars(begin, end, first);
  if (dot.ec != std::errc() || dot.ptr == end || *dot.ptr != '.') return false;
  if (std::from_chars(dot.ptr + 1, end, second).ec != std::errc()) return false;
  return first > major || (first == major && second >= minor);
}

// The kernel also counts a sandbox's processes for its user outside (user_namespaces(7), since Linux 5.14).
std::uint64_t half_of_the_users(const HostFacts& facts) {
  static constexpr int kProcesses = 6;  // RLIMIT_NPROC
  const auto own = std::ranges::find(facts.process_limits, kProcesses, &ProcessLimit::resource);
  if (own == facts.process_limits.end()) return kProcessesDefault;
  return std::min(kProcessesDefault, std::max<std::uint64_t>(own->hard / 2, 1));
}

}  // namespace

std::uint64_t processes_default(const HostFacts& facts, Stay stay) {
  if (facts.uid != 0) return is_at_least(facts.kernel, 5, 14) ? half_of_the_users(facts) : 0;
  return stay == Stay::kForMany ? kProcessesDefault : 0;
}

}  // namespace hutch::plan

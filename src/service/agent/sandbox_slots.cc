// How many agents' sandboxes run at once.
#include "service/agent/sandbox_slots.h"

#include "base/text.h"

namespace hutch::service {

Status SandboxSlots::take(const std::string& agent, std::size_t at_most) {
  const std::scoped_lock lock(mutex_);
  if (taken_.contains(agent)) return {};
  if (taken_.size() >= at_most) {
    return fail({Code::kConflict, 0,
                 cat({std::to_string(taken_.size()), " sandboxes run already, and security.maxConcurrentSandboxes is ",
                      std::to_string(at_most), "; hutch agent stop ends one"})});
  }
  taken_.insert(agent);
  return {};
}

void SandboxSlots::give_back(const std::string& agent) {
  const std::scoped_lock lock(mutex_);
  taken_.erase(agent);
}

}  // namespace hutch::service

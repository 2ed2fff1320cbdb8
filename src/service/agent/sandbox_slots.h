// How many agents' sandboxes run at once: whose they are.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"

namespace hutch::service {

// Any thread may use it.
class SandboxSlots {
 public:
  // One that has a slot keeps it, whatever the limit is by now.
  Status take(const std::string& agent, std::size_t at_most);
  void give_back(const std::string& agent);

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

}  // namespace hutch::service

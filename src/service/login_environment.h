// What a login shell of an agent's sandbox said of its environment, and of which start that holds.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sandbox/resident.h"

namespace hutch::service {

struct LoginEnvironment {
  std::mutex mutex;  // for all that is below
  std::vector<std::string> variables;  // empty: not asked
  std::weak_ptr<sandbox::Resident> of;  // whose it is
  std::string files;  // what the shell's files were then
};

}  // namespace hutch::service

// What an agent had installed before something was installed over it.
#pragma once

#include <functional>

#include "base/result.h"

namespace hutch::service {

struct LayerBefore {
  std::function<Status()> restore;  // it is the agent's again, or nothing where that was so
  std::function<void()> forget;
};

}  // namespace hutch::service

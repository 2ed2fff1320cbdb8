// What outlives a run, as the run sees it: the session that it belongs to, and the agents' sandboxes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "service/live/sessions.h"

namespace hutch::service {

struct SessionLink {
  // What holds for the session now. Absent where there is none, or nobody keeps it.
  std::function<std::optional<Sessions::State>()> state{};
  // An answer for the session allowed this; absent as well.
  std::function<void(const std::string& target)> granted{};
  // An answer was saved: whoever keeps sandboxes of agents is to hear of it.
  std::function<void()> saved{};
};

}  // namespace hutch::service

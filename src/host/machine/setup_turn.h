// The turn of whoever sets up OS users on this host: hutch init and deinit, network, service, and hutch-helper.
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"
#include "base/unique_fd.h"

namespace hutch::host {

// hutch init, started by hutch-helper, has the helper's turn as this descriptor.
inline constexpr int kSetupTurnDescriptor = 3;

struct SetupWait {
  std::chrono::milliseconds at_most{60'000};
  std::function<void()> begins{};        // called once, if somebody else has the turn
  std::function<Result<bool>()> goes_on{};  // asked ten times a second; false: nobody waits any more
};

// For root. The turn ends when the descriptor is closed, and with the process. Code::kConflict if others have it.
Result<UniqueFd> take_setup_turn(const SetupWait& wait);

}  // namespace hutch::host

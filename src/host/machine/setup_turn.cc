// One file, which root alone can open, locked by flock(2).
#include "host/machine/setup_turn.h"

#include <optional>
#include <string>
#include <utility>

#include "sys/io.h"
#include "sys/net/local_socket.h"

namespace hutch::host {

namespace {

// Not in hutch-helper's directory there: whoever listens makes that one, with its mode.
constexpr const char* kSetupTurnFile = "/run/hutch-init.lock";
constexpr std::chrono::milliseconds kSetupTurnLook{100};

}  // namespace

Result<UniqueFd> take_setup_turn(const SetupWait& wait) {
  if (auto given = TRY(sys::inherited_lock(kSetupTurnDescriptor, kSetupTurnFile))) return std::move(*given);
  const auto until = std::chrono::steady_clock::now() + wait.at_most;
  for (bool first = true;; first = false) {
    auto held = TRY(sys::try_lock_file(kSetupTurnFile));
    if (held) return std::move(*held);
    if (first && wait.begins) wait.begins();
    if (std::chrono::steady_clock::now() >= until) break;
    if (wait.goes_on) {
      if (!TRY(wait.goes_on())) return fail({Code::kConflict, 0, "whoever asked for a user went away"});
    }
    TRY(sys::poll({}, kSetupTurnLook));
  }
  return fail({Code::kConflict, 0,
               "another hutch init or deinit runs, or hutch-helper makes users: try again when it has ended"});
}

}  // namespace hutch::host

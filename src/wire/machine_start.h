// The first bytes for a machine, which waits for them: what must not be the same in two that were saved as one, and
// which devices come while it starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hutch::wire {

// What it says on its console when it waits.
inline constexpr std::string_view kMachineWaits = "hutch-guest: waits";

inline constexpr std::size_t kEntropyBytes = 64;
inline constexpr std::size_t kMachineStartBytes = 8 + 8 + kEntropyBytes + 3;

struct MachineStart {
  std::int64_t clock_ns = 0;  // since the epoch
  std::string entropy{};      // kEntropyBytes of it
  bool network = false;       // a card
  bool directories = false;   // of the host's
  bool again = false;         // it makes its root, and waits once more: what follows is another of these
};

std::string encode_machine_start(const MachineStart& start);

// Code::kInvalidArgument for anything but kMachineStartBytes that encode_machine_start has made.
Result<MachineStart> decode_machine_start(std::string_view bytes);

}  // namespace hutch::wire

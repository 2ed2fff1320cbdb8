// The first bytes for a machine that was saved while it waited for them: what must not be the same in two of them.
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
inline constexpr std::size_t kMachineStartBytes = 8 + 8 + kEntropyBytes + 1;

struct MachineStart {
  std::int64_t clock_ns = 0;  // since the epoch
  std::string entropy;        // kEntropyBytes of it
  bool network = false;       // whether its card is to be used; else it goes
};

std::string encode_machine_start(const MachineStart& start);

// Code::kInvalidArgument for anything but kMachineStartBytes that encode_machine_start has made.
Result<MachineStart> decode_machine_start(std::string_view bytes);

}  // namespace hutch::wire

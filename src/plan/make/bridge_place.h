// Where a sandbox finds the host's bridge that may make no Unix socket which leads out: a port of its own loopback, of
// which the gateway hands each connection to the bridge. A virtual machine's is that of QEMU's jail.
#pragma once

#include <cstdint>
#include <string_view>

namespace hutch::plan {

// Below 1024 nothing in a sandbox can bind.
inline constexpr std::uint16_t kBridgePort = 1022;
// As HUTCH_BRIDGE has it; in a machine the address is plan::kHostOfMachine.
inline constexpr std::string_view kBridgeAddress = "tcp:127.0.0.1:1022";
inline constexpr std::string_view kBridgeAddressOfMachine = "tcp:10.0.2.2:1022";
inline constexpr std::string_view kBridgeAddressBegin = "tcp:";

}  // namespace hutch::plan

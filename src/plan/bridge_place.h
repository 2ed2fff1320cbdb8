// Where a sandbox finds the host's bridge that may make no Unix socket which leads out: a port of its own loopback, of
// which the gateway hands each connection to the bridge.
#pragma once

#include <cstdint>
#include <string_view>

namespace hutch::plan {

// Below 1024 nothing in a sandbox can bind.
inline constexpr std::uint16_t kBridgePort = 1022;
// As HUTCH_BRIDGE has it.
inline constexpr std::string_view kBridgeAddress = "tcp:127.0.0.1:1022";
inline constexpr std::string_view kBridgeAddressBegin = "tcp:127.0.0.1:";

}  // namespace hutch::plan

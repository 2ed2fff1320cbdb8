// The network of a virtual machine, as QEMU's user networking has it.
#pragma once

#include <string_view>

namespace hutch::plan {

inline constexpr std::string_view kAddressOfMachine = "10.0.2.15";
// At which it finds the loopback of the sandbox that it runs in: the gateway's proxy, ports of the host, the bridge.
inline constexpr std::string_view kHostOfMachine = "10.0.2.2";
inline constexpr std::string_view kDnsOfMachine = "10.0.2.3";

}  // namespace hutch::plan

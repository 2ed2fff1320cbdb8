// The addresses that names have inside: given by the gateway's DNS, those of UDP rules ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ip_address.h"
#include "plan/plan.h"
#include "policy/policy.h"

namespace hutch::plan {

// How many names there can be: numbers are below it, and above 0.
inline constexpr std::uint32_t kNameNumbersMax = 0xffff;

struct NameAddresses {
  IpAddress v4;
  IpAddress v6;
};
NameAddresses name_addresses(std::uint32_t number);

// Whether the address is one that names are given, and the number if it is.
bool is_name_address(const IpAddress& address);
std::uint32_t name_number(const IpAddress& address);

// Of each UDP rule, in their order; the policy's reader has checked them.
std::vector<UdpCapture> udp_captures(const policy::Network& network);

}  // namespace hutch::plan

// The addresses that the gateway's DNS gives to names.
#include "egress/names.h"

#include <algorithm>
#include <iterator>

namespace hutch::egress {

namespace {

// 198.18.0.0/16 of the benchmarking range (RFC 2544), which nobody has on the Internet, and a unique local prefix
// (RFC 4193) beside that of the sandbox's own address. The last 16 bits of both are the name's number.
constexpr std::uint32_t kNumbersMax = 0xffff;
constexpr std::uint32_t kV4Base = 198U << 24 | 18U << 16;
const IpRange kV4Range{IpAddress::v4(kV4Base), 16};
const IpRange kV6Range = *parse_ip_range("fd68:7574:6368:1::/112");

IpAddress v4_of(std::uint32_t number) { return IpAddress::v4(kV4Base | number); }

IpAddress v6_of(std::uint32_t number) {
  IpAddress address = kV6Range.base;
  address.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  address.bytes[15] = static_cast<std::uint8_t>(number);
  return address;
}

std::uint32_t number_of(const IpAddress& address) {
  const std::size_t at = address.family == IpFamily::kV4 ? 2 : 14;
  return std::uint32_t{address.bytes[at]} << 8 | address.bytes[at + 1];
}

}  // namespace

Names::Names(std::uint32_t names_max) : names_max_(std::min(names_max, kNumbersMax - 1)) {}

Names::Addresses Names::addresses_of(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return {v4_of(found->second->number), v6_of(found->second->number)};
  }
  if (entries_.size() >= names_max_) {
    by_name_.erase(entries_.back().name);
    by_number_.erase(entries_.back().number);
    entries_.pop_back();
  }
  entries_.push_front({std::string(name), next_number()});
  const auto entry = entries_.begin();
  by_name_.emplace(entry->name, entry);
  by_number_.emplace(entry->number, entry);
  return {v4_of(entry->number), v6_of(entry->number)};
}

std::optional<std::string> Names::name_of(const IpAddress& address) const {
  if (!is_ours(address)) return std::nullopt;
  const auto found = by_number_.find(number_of(address));
  if (found == by_number_.end()) return std::nullopt;
  return found->second->name;
}

bool Names::is_ours(const IpAddress& address) { return kV4Range.contains(address) || kV6Range.contains(address); }

// Round the whole range before a number comes again.
std::uint32_t Names::next_number() {
  do {
    last_number_ = last_number_ % (kNumbersMax - 1) + 1;
  } while (by_number_.contains(last_number_));
  return last_number_;
}

}  // namespace hutch::egress

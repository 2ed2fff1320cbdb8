// DNS queries of a sandbox, and the answers to them. RFC 1035, RFC 6891 (EDNS).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ip_address.h"

namespace hutch::egress {

enum class DnsType : std::uint16_t { kA = 1, kPtr = 12, kAaaa = 28 };
inline constexpr std::uint16_t kDnsClassInternet = 1;

// One question. The name is as it was asked, labels joined by dots, without the last one; bytes in labels that no host
// name has (a dot among them) make it unusable, and `name_is_plain` false.
struct DnsQuery {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool has_edns = false;
  std::uint16_t type = 0;
  std::uint16_t klass = 0;
  std::string name;
  bool name_is_plain = true;
  std::string question;  // as bytes, for the answer
};

enum class DnsStatus : std::uint8_t {
  kNoError = 0,
  kFormatError = 1,
  kServerFailure = 2,
  kNameError = 3,
  kNotImplemented = 4,
  kRefused = 5
};

// Absent when no answer can be given: shorter than a header, or itself an answer. A message that is not a query with
// just one question is a `malformed` one, which is answered with an error.
struct DnsRead {
  DnsQuery query;
  DnsStatus status = DnsStatus::kNoError;  // what to answer when it is not kNoError
};
std::optional<DnsRead> read_dns_query(std::string_view bytes);

// An answer without records.
std::string dns_answer(const DnsQuery& query, DnsStatus status);
// One address, or one name for kPtr; `seconds` is how long it may be kept.
std::string dns_address_answer(const DnsQuery& query, const IpAddress& address, std::uint32_t seconds);
std::string dns_name_answer(const DnsQuery& query, std::string_view name, std::uint32_t seconds);

// The address that the name of a PTR query stands for: "4.3.2.1.in-addr.arpa", 32 nibbles and "ip6.arpa".
std::optional<IpAddress> reverse_address(std::string_view name);

}  // namespace hutch::egress

// A DNS message of a sandbox: what is read of it, and that what is answered has the form of an answer.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "egress/dns_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch::egress;  // NOLINT
  const auto read = read_dns_query({reinterpret_cast<const char*>(data), size});
  if (!read) return 0;
  const std::string refused = dns_answer(read->query, DnsStatus::kRefused);
  CHECK(refused.size() >= 12 && (static_cast<unsigned char>(refused[2]) & 0x80) != 0);
  CHECK(!read_dns_query(refused));
  if (read->status != DnsStatus::kNoError) return 0;
  CHECK(read->query.name.size() <= 255 && read->query.question.size() <= 255 + 4);
  CHECK(dns_address_answer(read->query, hutch::IpAddress::v4(198, 18, 0, 1), 60).size() <= 512);
  (void)reverse_address(read->query.name);
  return 0;
}

// The head of a request to the HTTP proxy, and a parent proxy's answer.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "egress/proxy_head.h"
#include "policy/network/hosts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch::egress;  // NOLINT
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ProxyHead head = read_proxy_head(bytes);
  CHECK(head.size <= bytes.size());
  if (head.step == ProxyStep::kConnect || head.step == ProxyStep::kForward) {
    CHECK(!head.host.empty() && head.port != 0);
    (void)hutch::policy::canonical_host(head.host);
  }
  CHECK(read_connect_answer(bytes).size <= bytes.size());
  return 0;
}

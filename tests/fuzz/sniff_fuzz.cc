// The first bytes of a connection, as a whole and in parts: a shorter beginning never says what a longer one denies.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "egress/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch::egress;  // NOLINT
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Sniffed whole = sniff(bytes);
  CHECK(whole.server_name.size() <= bytes.size());
  CHECK(!whole.is_text || whole.kind == FirstBytes::kMore);
  // What has passed as neither TLS nor HTTP is passed on unread from there on.
  for (std::size_t part = 1; part < bytes.size() && part < 512; ++part) {
    const FirstBytes kind = sniff(bytes.substr(0, part)).kind;
    if (kind == FirstBytes::kOther) CHECK(whole.kind != FirstBytes::kHttp && whole.kind != FirstBytes::kTls);
    if (kind == FirstBytes::kTls) CHECK(whole.kind == FirstBytes::kTls);
  }
  return 0;
}

// What a client of the SOCKS proxy sends, as a whole and byte by byte: both ways the same is read.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "egress/socks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hutch::egress;  // NOLINT
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const SocksState state : {SocksState::kNew, SocksState::kGreeted}) {
    const SocksRead whole = read_socks(bytes, state);
    CHECK(whole.size <= bytes.size() && whole.host.size() <= 255);
    for (std::size_t part = 0; part < bytes.size(); ++part) {
      const SocksRead read = read_socks(bytes.substr(0, part), state);
      if (read.step == SocksStep::kMore) continue;
      CHECK(read.step == whole.step && read.host == whole.host && read.port == whole.port);
      break;
    }
  }
  return 0;
}

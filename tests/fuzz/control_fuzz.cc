// A line from whoever holds the other end of the control descriptor.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/control.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = hutch::wire::parse_control({reinterpret_cast<const char*>(data), size});
  if (!parsed) (void)hutch::wire::control_error(parsed.error().message);
  return 0;
}

// Random names by the system's own source.
#include "tool/random_name.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace hutch::tool {

std::string random_name() {
  std::random_device source;
  const std::uint64_t bits = (std::uint64_t{source()} << 32) | source();
  return fmt::format("{:016x}", bits);
}

}  // namespace hutch::tool

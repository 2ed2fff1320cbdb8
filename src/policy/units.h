// Times, sizes and CPUs as people write them: "30s", "512M", "1.5". For the policy file and the command line alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace hutch::policy {

// ms, s, m, h; without a unit seconds. More than 0.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// K, M, G, T (of 1024), with or without B or iB; without a unit bytes. More than 0.
Result<std::uint64_t> parse_size(std::string_view text);

// A size of at least kMemoryBytesMin.
Result<std::uint64_t> parse_memory(std::string_view text);

// With less no program and its libraries can be loaded: every command would be killed without a word.
inline constexpr std::uint64_t kMemoryBytesMin = 4 << 20;

// In thousandths of one CPU. More than 0.
Result<std::uint64_t> parse_cpus(std::string_view text);

}  // namespace hutch::policy

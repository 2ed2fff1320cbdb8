// Every bound that hutch sets itself, in one place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace hutch::limits {

// Policy files and JSON from elsewhere.
inline constexpr std::size_t kJsonBytesMax = 1 << 20;
inline constexpr std::size_t kJsonDepthMax = 64;
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kRulesMax = 4096;

// How far rules with a wildcard, and names that are denied everywhere, are looked for at the start.
inline constexpr std::size_t kWalkDepthMax = 32;
inline constexpr std::size_t kWalkEntriesMax = 2'000'000;
inline constexpr std::size_t kMatchesMax = 20'000;
inline constexpr int kSymlinksMax = 40;  // as the kernel's own (path_resolution(7))

// The stream between host and guest.
inline constexpr std::size_t kFrameBytesMax = 8 << 20;
inline constexpr std::size_t kFrameDescriptorsMax = 64;
inline constexpr std::size_t kListItemsMax = 100'000;

// Output that an outcome keeps of each stream: the first and the last.
inline constexpr std::size_t kOutputHeadBytes = 1 << 20;
inline constexpr std::size_t kOutputTailBytes = 1 << 20;

// How long a command may take to go after TERM before it is killed.
inline constexpr std::chrono::milliseconds kTermGrace{2000};

// How long a file may take to become visible in a sandbox that runs.
inline constexpr std::chrono::milliseconds kWidenWait{5000};

// The control descriptor's lines.
inline constexpr std::size_t kControlLineBytesMax = 1 << 20;

// All certificates that a machine trusts.
inline constexpr std::size_t kTrustBytesMax = 4 << 20;

// For private directories without their own size (/run).
inline constexpr std::uint64_t kPrivateDirBytes = 64ULL << 20;

}  // namespace hutch::limits

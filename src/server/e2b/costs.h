// How many bytes of memory things take that a client of the E2B-compatible API sends, or asks for: rather too many than
// too few. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "server/e2b/followed_command.h"
#include "wire/files.h"

namespace hutch::server::e2b {

// A message of so many bytes with the copies that are made of its texts while it is read.
std::uint64_t cost_of_text(std::uint64_t bytes);
// That message once it is there: each value and each member takes many times the few characters that it is written in.
std::uint64_t cost_of_json(std::string_view text);

std::uint64_t cost_of(const FollowedCommand& command);  // as long as it runs
std::uint64_t cost_of(const wire::FileEntries& listing);

// Of a directory that is looked at, before it is known: what a file server's answer may have (wire/files.h), twice.
inline constexpr std::uint64_t kListingBytes = 16 << 20;

}  // namespace hutch::server::e2b

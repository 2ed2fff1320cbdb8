// A path as somebody typed it, to what they meant by it: what an agent put on the way leads nowhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/machine/account.h"
#include "plan/setup/sharing.h"
#include "store/shares.h"

namespace hutch::service {

// The users that shares are with, and `more`.
Result<std::vector<plan::ShareAgent>> agents_of(const std::vector<store::Share>& shares,
                                                const std::vector<host::OsUser>& more);

// Absolute, without "." and "..", with its links: what there is of a path where nothing is any more.
Result<std::string> absolute_path(const std::string& typed);

// Without links, each of which was the sharer's or root's, in a directory that no agent may change.
// Code::kPermissionDenied for another.
Result<std::string> resolve_path(const std::string& typed, std::uint32_t sharer,
                                 std::span<const plan::ShareAgent> agents);

}  // namespace hutch::service

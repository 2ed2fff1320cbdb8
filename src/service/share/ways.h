// The directories above a share that its agent has to pass through.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "host/machine/account.h"
#include "plan/setup/sharing.h"
#include "store/shares.h"
#include "sys/files/beneath.h"

namespace hutch::service {

// One that is to be opened, and is held: what has its name later may be something else.
struct ClosedWay {
  store::OpenedDirectory directory;  // with the list that it has now
  UniqueFd file;
  sys::FileStatus status;
};

// The directories above `path` that `user` may not pass through. One that is not the sharer's is an error: only its
// owner can open it.
Result<std::vector<ClosedWay>> ways_to_open(const std::string& path, const host::OsUser& user, std::uint32_t sharer);
Status open_way(const ClosedWay& way);
// One that is gone is closed. Entries of `others`, who go on sharing it, stay.
Status close_way(const store::OpenedDirectory& directory, std::span<const std::uint32_t> others);

}  // namespace hutch::service

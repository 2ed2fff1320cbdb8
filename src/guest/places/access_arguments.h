// The arguments of the calls that change files or name a socket, in one form for all variants of a call.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "base/result.h"
#include "guest/places/access_place.h"
#include "sys/notify.h"

namespace hutch::guest {

enum class AccessKind {
  kCreationMask,
  kOpen,
  kMakeDirectory,
  kMakeNode,
  kMakeSymlink,  // `text` at `path`
  kRemove,
  kRename,  // `path` becomes `other`
  kLink,    // likewise
  kPutContent,  // `path` becomes a file of the content `text`
  kMode,
  kOwner,
  kTimes,
  kTruncate,
  kSetAttribute,  // `text` to `value`
  kRemoveAttribute,
  kAskAccess,
  kLook,     // nothing changes
  kConnect,  // `descriptor` to the address in `text`
  kBind,     // likewise
};

struct AccessCall {
  AccessKind kind = AccessKind::kOpen;
  sys::Notification raw{};
  CallerPath path{};
  std::optional<int> descriptor{};  // instead of the path
  bool is_path_enough = false;      // the descriptor may be one that was opened with O_PATH
  sys::LastLink last = sys::LastLink::kFollow;
  CallerPath other{};
  std::string text{};
  std::string value{};
  int flags = 0;
  mode_t mode = 0;
  dev_t device = 0;  // of a node
  std::uint64_t resolve = 0;  // of openat2(2)
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::optional<std::array<timespec, 2>> times{};
  std::int64_t size = 0;
};

// Absent: it is none of them. An error: what it points at cannot be read.
Result<std::optional<AccessCall>> read_access_call(const sys::Notification& raw);

}  // namespace hutch::guest

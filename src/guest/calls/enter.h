// How the access supervisor gets into the sandbox, and at its supervised mounts.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "guest/calls/access.h"
#include "guest/places/access_place.h"
#include "wire/access.h"

namespace hutch::guest {

// For each supervised mount; absent where the host has none.
struct Given {
  std::vector<UniqueFd> roots;
  std::vector<UniqueFd> sources;
  int end = 0;  // of the descriptors
};
// Of the descriptors that came with wire::Supervise.
Given take_given(const std::vector<wire::SupervisedMount>& supervised, HasRoots has_roots);

// Its root becomes the sandbox's, so that paths lead where they lead there. It stays in the host's pid namespace, which
// nobody in there can reach, with a /proc that knows them all. Of its capabilities it keeps the one for reading the
// memory of processes that made themselves unreadable, and the one for asking a socket for its file; files it may touch
// as they may.
Result<Places> enter_sandbox(const std::vector<wire::SupervisedMount>& supervised, Given given);

}  // namespace hutch::guest

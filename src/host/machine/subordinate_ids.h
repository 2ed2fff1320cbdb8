// Which ids this user may use besides their own.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "plan/id_map.h"

namespace hutch::host {

struct IdFacts {
  plan::IdMap map;
  std::string lack;    // why there is one user only; empty with many
  std::string remedy;  // what to do about it
};

// For images. Root has ids of /etc/subuid or, without an entry, some that no system gives out; anybody else needs an
// entry and the programs newuidmap and newgidmap.
Result<IdFacts> probe_ids(std::uint32_t uid, std::uint32_t gid, const std::string& user);

}  // namespace hutch::host

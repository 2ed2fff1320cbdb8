// The rules as a Seatbelt profile for sandbox-exec of macOS. Untested on macOS: what it renders is held by golden tests
// alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "policy/rules.h"

namespace hutch::plan {

struct SeatbeltInput {
  const std::vector<policy::Rule>& rules;  // canonical
  std::optional<std::uint16_t> proxy_port;  // the gateway's on the loopback: the only way out; none: no network
};

// An error where a path cannot be written in a profile.
Result<std::string> seatbelt_profile(const SeatbeltInput& input);

// ".sandbox-profiles/seatbelt-HASH.sb", below the workspace: equal settings of a workspace share one file.
std::string seatbelt_file(const std::string& workspace, const std::string& profile);

}  // namespace hutch::plan

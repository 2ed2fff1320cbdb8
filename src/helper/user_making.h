// One more OS user for a person's agents, where root has let the person have those.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "wire/connection.h"
#include "wire/helper.h"

namespace hutch::helper {

// Its number; of one that is there already too. hutch init makes it, as if root had asked for that person and agent.
// Code::kPermissionDenied where root has not let them, kConflict where they have as many as there may be.
Result<std::uint32_t> make_agents_user(std::uint32_t person, const wire::HelperMakeUser& asked,
                                       const wire::Connection& caller);

}  // namespace hutch::helper

// hutch's own errors as those of the public API.
#pragma once

#include <hutch/types.h>

#include "base/result.h"

namespace hutch::api {

SandboxError to_public(const Error& error);

inline std::unexpected<SandboxError> refuse(const Error& error) { return std::unexpected(to_public(error)); }

}  // namespace hutch::api

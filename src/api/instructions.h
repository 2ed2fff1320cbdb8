// What a model is told of its sandbox.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "api/settled.h"

namespace hutch::api {

std::string instructions_of(const Settled& settled, std::optional<std::chrono::milliseconds> timeout);

}  // namespace hutch::api

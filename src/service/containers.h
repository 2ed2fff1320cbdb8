// Containers of an engine, as hutch finds and names them here.
#pragma once

#include "backend/container/container_backend.h"
#include "base/result.h"

namespace hutch::service {

// Of this process's own environment.
backend::container::EngineEnvironment engine_environment();

Result<backend::container::ContainerBackend::Settings> container_settings();

// Removes what a hutch that was killed left behind. What cannot be removed now is left for the next time.
void remove_stale_containers();

}  // namespace hutch::service

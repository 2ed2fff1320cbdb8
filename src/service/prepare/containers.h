// Containers of an engine, as hutch finds and names them here.
#pragma once

#include <string>

#include "backend/container/container_backend.h"
#include "base/result.h"
#include "plan/facts.h"
#include "service/image/build.h"
#include "service/image/images.h"

namespace hutch::service {

// Of this process's own environment.
backend::container::EngineEnvironment engine_environment();

Result<backend::container::ContainerBackend::Settings> container_settings();

// Builds the default image where that is the one, and the engine has it not; whoever comes meanwhile waits for it.
Status ensure_engine_image(const std::string& image, Signals signals, const plan::HostFacts& facts,
                           const TellImage& tell, const BuildStop* stop = nullptr);

// Removes what a hutch that was killed left behind. What cannot be removed now is left for the next time.
void remove_stale_containers();

}  // namespace hutch::service

// Containers of an engine, as hutch finds and names them here.
#include "service/containers.h"

#include "base/text.h"
#include "host/facts.h"
#include "host/state_dirs.h"
#include "sys/host_info.h"
#include "sys/identity.h"

namespace hutch::service {

backend::container::EngineEnvironment engine_environment() {
  return {.docker_host = sys::environment_variable("DOCKER_HOST").value_or(""),
          .runtime_directory = sys::environment_variable("XDG_RUNTIME_DIR").value_or(""),
          .uid = sys::user_id()};
}

Result<backend::container::ContainerBackend::Settings> container_settings() {
  const plan::HostFacts facts = TRY_CTX(host::probe_facts(), "look at this machine");
  const host::StateDirs dirs = TRY(host::own_state_dirs(facts.uid, facts.home));
  return backend::container::ContainerBackend::Settings{engine_environment(), cat({dirs.data, "/containers"}),
                                                        cat({std::to_string(facts.uid), ":", dirs.data})};
}

void remove_stale_containers() {
  const auto settings = container_settings();
  if (settings) (void)backend::container::remove_stale(settings->environment, settings->directory);
}

}  // namespace hutch::service
